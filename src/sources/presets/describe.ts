import type { ContractData } from "../contract/event-contract.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { PublicKeyData } from "../schemes/public-key.ts";
import type { PlatformFacts, SourceDefinition, SourceSettings } from "../source-definition.ts";

/** What a preset is, whatever its options: docs/platforms.md is made of it. */
export interface PresetData {
  readonly preset: string;
  readonly facts: PlatformFacts;
  /** How the platform signs and what: its scheme, or words such as ``HMAC-SHA1 over the payload, in the body``. */
  readonly signs: SignedBy | readonly SignedBy[];
  readonly contract: ContractData;
  /** Its options beside the settings of every source; each may leave out `secret`. */
  readonly own?: Readonly<Record<string, Need>>;
  /** `SOURCES` gives it the public key from the variable in which others have their secret. */
  readonly takesPublicKey?: true;
}

/** Whether an option is needed; `either`: one of those is. */
type Need = "required" | "optional" | "either";

/** The options that only this preset has; the compiler compares them with its type. */
export type OwnOptions<Options, Common = never> = {
  readonly [Name in Exclude<keyof Options, keyof SourceSettings | Common>]: object extends Pick<Options, Name>
    ? "optional" | "either"
    : "required";
};

type SignedBy = string | HmacData | PublicKeyData;

/** A preset, of which the page knows without calling it with secrets. */
export type Preset<Options> = ((options: Options) => SourceDefinition) & {
  /** Made when it is asked for, and not at every start. */
  readonly describe: () => PresetData;
  readonly takesPublicKey?: true;
};

import type { ContractData } from "../contract/event-contract.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { PublicKeyData } from "../schemes/public-key.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";

/** What a preset is, whatever its options: docs/platforms.md is made of it. */
export interface PresetData {
  readonly preset: string;
  readonly facts: PlatformFacts;
  /** How the platform signs and what: its scheme, or words such as ``HMAC-SHA1 over the payload, in the body``. */
  readonly signs: SignedBy | readonly SignedBy[];
  readonly contract: ContractData;
}

type SignedBy = string | HmacData | PublicKeyData;

/** A preset, of which the page knows without calling it with secrets. */
export type Preset<Options> = ((options: Options) => SourceDefinition) & {
  /** Made when it is asked for, and not at every start. */
  readonly describe: () => PresetData;
};

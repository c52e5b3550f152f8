import type { ContractData } from "../contract/event-contract.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
import { naming } from "../option-error.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import type { PublicKeyData } from "../schemes/public-key.ts";
import type { PlatformFacts, SourceDefinition, SourceSettings } from "../source-definition.ts";
import { defineSource, type SourceParts } from "./define-source.ts";
import { assertKnown } from "./options.ts";
import { contractIn, type OwnContract } from "./own-source.ts";
import { SETTING_NAMES } from "./source-settings.ts";

/** A platform as its file describes it: the facts about it, and the meaning of its callbacks. */
export interface Platform extends Omit<PlatformFacts, "title">, Omit<OwnContract, "renewsTimestamp"> {
  /** Default: the words of the preset's name, such as `Commerce Layer`. */
  readonly title?: string;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample;
  /** `SOURCES` gives it the public key from the variable in which others have their secret. */
  readonly takesPublicKey?: true;
}

/** A preset, whatever its options: docs/platforms.md and the registry are made of it. */
export interface PresetData {
  readonly preset: string;
  readonly facts: PlatformFacts;
  /** How the platform signs and what: its scheme, or words such as ``HMAC-SHA1 over the payload, in the body``. */
  readonly signs: SignedBy | readonly SignedBy[];
  readonly contract: ContractData;
  /** Its options beside the settings of every source. */
  readonly options: Readonly<Record<string, Need>>;
  /** `SOURCES` gives it the public key from the variable in which others have their secret. */
  readonly takesPublicKey?: true;
}

type SignedBy = string | HmacData | PublicKeyData;

/** Whether an option is needed; `either`: one of those is. */
type Need = "required" | "optional" | "either";

/** The options that only this preset has; the compiler compares them with its type. */
export type OwnOptions<Options, Common = never> = {
  readonly [Name in Exclude<keyof Options, keyof SourceSettings | Common>]: object extends Pick<Options, Name>
    ? "optional" | "either"
    : "required";
};

/** A preset, which can be described without secrets. @throws OptionError that names the preset and the wrong option */
export type Preset<Options> = ((options: Options) => SourceDefinition) & {
  readonly describe: () => PresetData;
};

/** A preset whose parts follow from its options in code. */
interface PresetWithParts<Options> extends Platform, Pick<PresetData, "signs" | "options"> {
  /** The signed places beside the body, where the platform's id may stand in one. */
  readonly signedPlaces?: readonly string[];
  /** For a platform that signs for all its customers with one key: what to do about that. */
  readonly open?: string;
  /** @throws OptionError that names the option that is wrong */
  readonly make: (
    options: Options,
    title: string,
  ) => Omit<SourceParts, "preset" | "settings" | "facts" | "contract"> & {
    readonly facts?: Partial<PlatformFacts>;
    readonly contract?: Partial<ContractData>;
    readonly open?: string;
  };
}

/** A preset with other options than one secret, whose names are compared with its type. */
interface OptionsPreset<Options> extends PresetWithParts<Options> {
  readonly options: OwnOptions<Options>;
}

/** @returns a function of its options and the source's settings, which throws an `OptionError` that names the preset */
export function optionsPreset<Options extends SourceSettings>(
  preset: string,
  data: OptionsPreset<Options>,
): Preset<Options> {
  return presetOf(preset, data);
}

/** For presets that are made of more than their type's own options. */
export function presetOf<Options extends SourceSettings>(
  preset: string,
  data: PresetWithParts<Options>,
): Preset<Options> {
  const { title = wordsOf(preset), identity, signs, options: needs, takesPublicKey, sample } = data;
  const facts = { ...data, title };
  const contract = { ...contractIn(data), identity: identity?.key, signs: data.signedPlaces ?? [] };
  const names = [...Object.keys(needs), ...SETTING_NAMES];
  const create = (options: Options): SourceDefinition =>
    naming({ preset }, () => {
      assertKnown(options, names);
      const { open = data.open, ...parts } = data.make(options, title);
      const definition = defineSource({
        ...{ preset, settings: options, sample, ...parts },
        facts: { ...facts, ...parts.facts },
        contract: { ...contract, ...parts.contract },
      });
      if (open === undefined) return definition;
      const gap = `${title} signs for all its customers with one key, so that another one can send you its events`;
      return { ...definition, open: `${gap}: ${open}` };
    });
  const description = { preset, facts, signs, contract, options: needs, ...(takesPublicKey && { takesPublicKey }) };
  return Object.assign(create, { describe: () => description });
}

/** `Commerce Layer` of `commerce-layer`. */
function wordsOf(preset: string): string {
  return preset.replace(/(?:^|-)\w/g, (first) => first.replace("-", " ").toUpperCase());
}

import type { SourceDefinition, SourceSettings } from "../source-definition.ts";
import type { OwnOptions, Preset, PresetData } from "./describe.ts";
import { defineSource, type SourceParts } from "./preset.ts";
import { assertOptionNames } from "./source-settings.ts";

/** What a preset is made of that needs other options than one secret. */
interface OptionsPreset<Options extends SourceSettings> extends PresetData {
  readonly own: OwnOptions<Options>;
  /** For a platform that signs for all its customers with one key: what to do about that. */
  readonly open?: string;
  /** What follows from the options. @throws TypeError that names the option that is wrong */
  readonly make: (
    options: Options,
  ) => Omit<SourceParts, keyof PresetData | "settings"> &
    Partial<Pick<SourceParts, "facts" | "contract">> &
    Pick<OptionsPreset<Options>, "open">;
}

/** @returns a function of its options and the source's settings @throws TypeError that names the option that is wrong */
export function optionsPreset<Options extends SourceSettings>(data: OptionsPreset<Options>): Preset<Options> {
  const { preset, facts, contract, own, make } = data;
  function create(options: Options): SourceDefinition {
    assertOptionNames(preset, options, own);
    const { open = data.open, ...parts } = make(options);
    const definition = defineSource({ preset, facts, contract, settings: options, ...parts });
    if (open === undefined) return definition;
    const title = `${facts.title} signs for all its customers with one key`;
    return { ...definition, open: `${title}, so that another one can send you its events: ${open}` };
  }
  create.describe = () => data;
  return data.takesPublicKey ? Object.assign(create, { takesPublicKey: data.takesPublicKey }) : create;
}

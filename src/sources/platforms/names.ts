import { LEARNING, SECRET_IS_ENOUGH, WITH_OPTIONS } from "./registry.ts";

type Words<Text> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

export type PresetName = Words<(typeof SECRET_IS_ENOUGH)[number]>;

const namesIn = (lines: readonly string[]) => lines.flatMap((line) => line.split(" "));

/** Those that `SOURCES` may name, each a function of one secret, or of several while it is rotated; in order. */
export const PRESET_NAMES = namesIn(SECRET_IS_ENOUGH) as readonly PresetName[];

/** The functions of `oncehook/sources` that need more than a secret. */
export const FUNCTIONS_WITH_OPTIONS: readonly string[] = namesIn(WITH_OPTIONS);

/** Those whose platform chooses the secret and sends it, so that none need be set. */
export const LEARNING_PRESETS: ReadonlySet<string> = new Set(namesIn(LEARNING));

/** The function of a preset that a secret is enough for: `adyenPlatform` of `adyen-platform`. */
export function functionOf(name: PresetName): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The remedy for a name, in either spelling, that needs more than a secret; undefined for any other name. */
export function moreThanSecret(name: string): string | undefined {
  const bare = name.replaceAll("-", "").toLowerCase();
  const preset = FUNCTIONS_WITH_OPTIONS.find((one) => one.toLowerCase() === bare);
  if (preset === undefined) return undefined;
  return (
    `${name} needs more than a secret: import { ${preset} } from "oncehook/sources" in oncehook.config.ts, and name it ` +
    "in `sources` (docs/platforms.md)"
  );
}

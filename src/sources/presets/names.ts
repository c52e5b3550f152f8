/** Every preset that `SOURCES` may name; each is a function of one secret, or of several while it is rotated. */
export const PRESET_NAMES = ["stripe", "github"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

/** Those whose platform chooses the secret and sends it, so that none need be set. */
export const LEARNING_PRESETS: ReadonlySet<string> = new Set(["asana", "notion"]);

/** Every preset that `SOURCES` may name; each is a function of one secret, or of several while it is rotated. */
export const PRESET_NAMES = [
  "anthropic",
  "bigcommerce",
  "brex",
  "clerk",
  "github",
  "lithic",
  "loops",
  "openai",
  "polar",
  "recall",
  "render",
  "replicate",
  "resend",
  "shipbob",
  "standard-webhooks",
  "stripe",
  "svix",
] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

/** Every preset that `SOURCES` may name; each is a function of one secret, or of several while it is rotated. */
export const PRESET_NAMES = [
  "github",
  "gocardless",
  "intercom",
  "line",
  "linear",
  "mailgun",
  "mollie",
  "paddle",
  "razorpay",
  "shopify",
  "slack",
  "square",
  "stripe",
  "xero",
  "zoom",
] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

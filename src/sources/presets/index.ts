/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { github } from "./github.ts";
import { gocardless } from "./gocardless.ts";
import { line } from "./line.ts";
import { linear } from "./linear.ts";
import type { PresetName } from "./names.ts";
import { paddle } from "./paddle.ts";
import type { SecretOption } from "./preset.ts";
import { razorpay } from "./razorpay.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { square } from "./square.ts";
import { stripe } from "./stripe.ts";

export type { SourceDefinition } from "../source-definition.ts";
export { github } from "./github.ts";
export { gocardless } from "./gocardless.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { line } from "./line.ts";
export { linear } from "./linear.ts";
export { paddle } from "./paddle.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export { razorpay } from "./razorpay.ts";
export { shopify } from "./shopify.ts";
export { slack } from "./slack.ts";
export { square } from "./square.ts";
export { stripe } from "./stripe.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  github,
  gocardless,
  line,
  linear,
  paddle,
  razorpay,
  shopify,
  slack,
  square,
  stripe,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

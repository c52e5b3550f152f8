/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { anthropic } from "./anthropic.ts";
import { bigcommerce } from "./bigcommerce.ts";
import { brex } from "./brex.ts";
import { clerk } from "./clerk.ts";
import { github } from "./github.ts";
import { lithic } from "./lithic.ts";
import { loops } from "./loops.ts";
import type { PresetName } from "./names.ts";
import { openai } from "./openai.ts";
import { polar } from "./polar.ts";
import type { SecretOption } from "./preset.ts";
import { recall } from "./recall.ts";
import { render } from "./render.ts";
import { replicate } from "./replicate.ts";
import { resend } from "./resend.ts";
import { shipbob } from "./shipbob.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";

export type { SourceDefinition } from "../source-definition.ts";
export { anthropic } from "./anthropic.ts";
export { bigcommerce } from "./bigcommerce.ts";
export { brex } from "./brex.ts";
export { clerk } from "./clerk.ts";
export { github } from "./github.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { lithic } from "./lithic.ts";
export { loops } from "./loops.ts";
export { openai } from "./openai.ts";
export { polar } from "./polar.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export { recall } from "./recall.ts";
export { render } from "./render.ts";
export { replicate } from "./replicate.ts";
export { resend } from "./resend.ts";
export { shipbob } from "./shipbob.ts";
export type { StandardOptions } from "./standard.ts";
export { standardWebhooks } from "./standard-webhooks.ts";
export { stripe } from "./stripe.ts";
export { svix } from "./svix.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  anthropic,
  bigcommerce,
  brex,
  clerk,
  github,
  lithic,
  loops,
  openai,
  polar,
  recall,
  render,
  replicate,
  resend,
  shipbob,
  "standard-webhooks": standardWebhooks,
  stripe,
  svix,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { anthropic } from "./anthropic.ts";
import { bigcommerce } from "./bigcommerce.ts";
import { brex } from "./brex.ts";
import { clerk } from "./clerk.ts";
import { coinbaseCommerce } from "./coinbase-commerce.ts";
import { contentful } from "./contentful.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { lithic } from "./lithic.ts";
import { loops } from "./loops.ts";
import type { PresetName } from "./names.ts";
import { notion } from "./notion.ts";
import { openai } from "./openai.ts";
import { polar } from "./polar.ts";
import type { SecretOption } from "./preset.ts";
import { recall } from "./recall.ts";
import { render } from "./render.ts";
import { replicate } from "./replicate.ts";
import { resend } from "./resend.ts";
import { sanity } from "./sanity.ts";
import { shipbob } from "./shipbob.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { twitch } from "./twitch.ts";
import { workos } from "./workos.ts";

export type { BraintreeKeys } from "../schemes/braintree.ts";
export type { SourceDefinition } from "../source-definition.ts";
export { anthropic } from "./anthropic.ts";
export { bigcommerce } from "./bigcommerce.ts";
export { type BraintreeOptions, braintree } from "./braintree.ts";
export { brex } from "./brex.ts";
export { clerk } from "./clerk.ts";
export { coinbaseCommerce } from "./coinbase-commerce.ts";
export { contentful } from "./contentful.ts";
export { github } from "./github.ts";
export { type GitlabOptions, gitlab } from "./gitlab.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { lithic } from "./lithic.ts";
export { loops } from "./loops.ts";
export { notion } from "./notion.ts";
export { openai } from "./openai.ts";
export { polar } from "./polar.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export { recall } from "./recall.ts";
export { render } from "./render.ts";
export { replicate } from "./replicate.ts";
export { resend } from "./resend.ts";
export { sanity } from "./sanity.ts";
export { shipbob } from "./shipbob.ts";
export type { StandardOptions } from "./standard.ts";
export { standardWebhooks } from "./standard-webhooks.ts";
export { stripe } from "./stripe.ts";
export { svix } from "./svix.ts";
export { twitch } from "./twitch.ts";
export { workos } from "./workos.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  anthropic,
  bigcommerce,
  brex,
  clerk,
  "coinbase-commerce": coinbaseCommerce,
  contentful,
  github,
  gitlab,
  lithic,
  loops,
  notion,
  openai,
  polar,
  recall,
  render,
  replicate,
  resend,
  sanity,
  shipbob,
  "standard-webhooks": standardWebhooks,
  stripe,
  svix,
  twitch,
  workos,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

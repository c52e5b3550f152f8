/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { airtable } from "./airtable.ts";
import { asana } from "./asana.ts";
import { box } from "./box.ts";
import { calendly } from "./calendly.ts";
import { customerIo } from "./customer-io.ts";
import { dropbox } from "./dropbox.ts";
import { front } from "./front.ts";
import { github } from "./github.ts";
import { gocardless } from "./gocardless.ts";
import { intercom } from "./intercom.ts";
import { line } from "./line.ts";
import { linear } from "./linear.ts";
import { mailgun } from "./mailgun.ts";
import { mollie } from "./mollie.ts";
import type { PresetName } from "./names.ts";
import { paddle } from "./paddle.ts";
import { pagerduty } from "./pagerduty.ts";
import type { SecretOption } from "./preset.ts";
import { razorpay } from "./razorpay.ts";
import { sentry } from "./sentry.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { smartcar } from "./smartcar.ts";
import { square } from "./square.ts";
import { stripe } from "./stripe.ts";
import { trello } from "./trello.ts";
import { typeform } from "./typeform.ts";
import { xero } from "./xero.ts";
import { zendesk } from "./zendesk.ts";
import { zoom } from "./zoom.ts";

export type { SourceDefinition } from "../source-definition.ts";
export { airtable } from "./airtable.ts";
export { asana } from "./asana.ts";
export { box } from "./box.ts";
export { calendly } from "./calendly.ts";
export { customerIo } from "./customer-io.ts";
export { dropbox } from "./dropbox.ts";
export { front } from "./front.ts";
export { github } from "./github.ts";
export { gocardless } from "./gocardless.ts";
export type { MetaOptions } from "./graph-webhooks.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { intercom } from "./intercom.ts";
export { line } from "./line.ts";
export { linear } from "./linear.ts";
export { mailgun } from "./mailgun.ts";
export { meta } from "./meta.ts";
export { mollie } from "./mollie.ts";
export { paddle } from "./paddle.ts";
export { pagerduty } from "./pagerduty.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export { razorpay } from "./razorpay.ts";
export { sentry } from "./sentry.ts";
export { shopify } from "./shopify.ts";
export { slack } from "./slack.ts";
export { smartcar } from "./smartcar.ts";
export { square } from "./square.ts";
export { stripe } from "./stripe.ts";
export { trello } from "./trello.ts";
export { typeform } from "./typeform.ts";
export { whatsapp } from "./whatsapp.ts";
export { xero } from "./xero.ts";
export { zendesk } from "./zendesk.ts";
export { zoom } from "./zoom.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  airtable,
  asana,
  box,
  calendly,
  "customer-io": customerIo,
  dropbox,
  front,
  github,
  gocardless,
  intercom,
  line,
  linear,
  mailgun,
  mollie,
  paddle,
  pagerduty,
  razorpay,
  sentry,
  shopify,
  slack,
  smartcar,
  square,
  stripe,
  trello,
  typeform,
  xero,
  zendesk,
  zoom,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

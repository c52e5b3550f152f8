/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { adyen } from "./adyen.ts";
import { adyenPlatform } from "./adyen-platform.ts";
import { airtable } from "./airtable.ts";
import { anthropic } from "./anthropic.ts";
import { asana } from "./asana.ts";
import { bigcommerce } from "./bigcommerce.ts";
import { box } from "./box.ts";
import { brex } from "./brex.ts";
import { calendly } from "./calendly.ts";
import { clerk } from "./clerk.ts";
import { coinbaseCommerce } from "./coinbase-commerce.ts";
import { contentful } from "./contentful.ts";
import { customerIo } from "./customer-io.ts";
import { discord } from "./discord.ts";
import { dropbox } from "./dropbox.ts";
import { front } from "./front.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { gocardless } from "./gocardless.ts";
import { hubspot } from "./hubspot.ts";
import { intercom } from "./intercom.ts";
import { lark } from "./lark.ts";
import { line } from "./line.ts";
import { linear } from "./linear.ts";
import { lithic } from "./lithic.ts";
import { loops } from "./loops.ts";
import { mailgun } from "./mailgun.ts";
import { microsoftGraph } from "./microsoft-graph.ts";
import { mollie } from "./mollie.ts";
import { monday } from "./monday.ts";
import type { PresetName } from "./names.ts";
import { notion } from "./notion.ts";
import { okta } from "./okta.ts";
import { openai } from "./openai.ts";
import { paddle } from "./paddle.ts";
import { pagerduty } from "./pagerduty.ts";
import { polar } from "./polar.ts";
import type { SecretOption } from "./preset.ts";
import { razorpay } from "./razorpay.ts";
import { recall } from "./recall.ts";
import { render } from "./render.ts";
import { replicate } from "./replicate.ts";
import { resend } from "./resend.ts";
import { sanity } from "./sanity.ts";
import { sendgrid } from "./sendgrid.ts";
import { sentry } from "./sentry.ts";
import { shipbob } from "./shipbob.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { smartcar } from "./smartcar.ts";
import { square } from "./square.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { telnyx } from "./telnyx.ts";
import { trello } from "./trello.ts";
import { twilio } from "./twilio.ts";
import { twilioEvents } from "./twilio-events.ts";
import { twitch } from "./twitch.ts";
import { typeform } from "./typeform.ts";
import { wise } from "./wise.ts";
import { workos } from "./workos.ts";
import { xero } from "./xero.ts";
import { zendesk } from "./zendesk.ts";
import { zoom } from "./zoom.ts";

export type { BraintreeKeys } from "../schemes/braintree.ts";
export type { WeChatMerchant } from "../schemes/wechat-certificates.ts";
export type { SourceDefinition } from "../source-definition.ts";
export { adyen } from "./adyen.ts";
export { adyenPlatform } from "./adyen-platform.ts";
export { airtable } from "./airtable.ts";
export { type AlipayOptions, alipay } from "./alipay.ts";
export { anthropic } from "./anthropic.ts";
export { type AntomOptions, antom } from "./antom.ts";
export { type AppleAppStoreOptions, appleAppStore } from "./apple-app-store.ts";
export { asana } from "./asana.ts";
export { type AwsSnsOptions, awsSns } from "./aws-sns.ts";
export { bigcommerce } from "./bigcommerce.ts";
export { box } from "./box.ts";
export { type BraintreeOptions, braintree } from "./braintree.ts";
export { brex } from "./brex.ts";
export { calendly } from "./calendly.ts";
export { clerk } from "./clerk.ts";
export { coinbaseCommerce } from "./coinbase-commerce.ts";
export { contentful } from "./contentful.ts";
export { type CustomSourceOptions, custom } from "./custom.ts";
export { customerIo } from "./customer-io.ts";
export { type DingTalkOptions, dingtalk } from "./dingtalk.ts";
export { discord } from "./discord.ts";
export { dropbox } from "./dropbox.ts";
export { type EbayOptions, ebay } from "./ebay.ts";
export { front } from "./front.ts";
export { type GitHubOptions, github } from "./github.ts";
export { type GitlabOptions, gitlab } from "./gitlab.ts";
export { gocardless } from "./gocardless.ts";
export { type GooglePubSubOptions, googlePubSub } from "./google-pubsub.ts";
export type { MetaOptions } from "./graph-webhooks.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { hubspot } from "./hubspot.ts";
export { intercom } from "./intercom.ts";
export { type LarkOptions, lark } from "./lark.ts";
export { line } from "./line.ts";
export { linear } from "./linear.ts";
export { lithic } from "./lithic.ts";
export { type LivekitOptions, livekit } from "./livekit.ts";
export { loops } from "./loops.ts";
export { mailgun } from "./mailgun.ts";
export { type MessageSignatureSourceOptions, messageSignatures } from "./message-signatures.ts";
export { meta } from "./meta.ts";
export { microsoftGraph } from "./microsoft-graph.ts";
export { mollie } from "./mollie.ts";
export { type MondayOptions, monday } from "./monday.ts";
export { notion } from "./notion.ts";
export { okta } from "./okta.ts";
export { openai } from "./openai.ts";
export { type PaddleOptions, paddle } from "./paddle.ts";
export { pagerduty } from "./pagerduty.ts";
export { type PayPalOptions, paypal } from "./paypal.ts";
export { type PlaidOptions, plaid } from "./plaid.ts";
export { polar } from "./polar.ts";
export type { FixedSecretOptions, LearningOptions, PresetOptions, SecretOption } from "./preset.ts";
export { type PublicKeySourceOptions, publicKey } from "./public-key.ts";
export type { PublicKeyOptions } from "./public-key-preset.ts";
export { razorpay } from "./razorpay.ts";
export { recall } from "./recall.ts";
export { render } from "./render.ts";
export { replicate } from "./replicate.ts";
export { resend } from "./resend.ts";
export { sanity } from "./sanity.ts";
export { sendgrid } from "./sendgrid.ts";
export { sentry } from "./sentry.ts";
export { shipbob } from "./shipbob.ts";
export { shopify } from "./shopify.ts";
export { slack } from "./slack.ts";
export { smartcar } from "./smartcar.ts";
export { type SquareOptions, square } from "./square.ts";
export type { StandardOptions } from "./standard.ts";
export { standardWebhooks } from "./standard-webhooks.ts";
export { type StripeOptions, stripe } from "./stripe.ts";
export { svix } from "./svix.ts";
export { telnyx } from "./telnyx.ts";
export { type TokenSourceOptions, token } from "./token.ts";
export { trello } from "./trello.ts";
export { twilio } from "./twilio.ts";
export { twilioEvents } from "./twilio-events.ts";
export { twitch } from "./twitch.ts";
export { typeform } from "./typeform.ts";
export { type WeChatPayOptions, wechatPay } from "./wechat-pay.ts";
export { whatsapp } from "./whatsapp.ts";
export { wise } from "./wise.ts";
export { workos } from "./workos.ts";
export { xero } from "./xero.ts";
export { zendesk } from "./zendesk.ts";
export { zoom } from "./zoom.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  adyen,
  "adyen-platform": adyenPlatform,
  airtable,
  anthropic,
  asana,
  bigcommerce,
  box,
  brex,
  calendly,
  clerk,
  "coinbase-commerce": coinbaseCommerce,
  contentful,
  "customer-io": customerIo,
  discord: ({ secret }) => discord({ publicKey: secret }),
  dropbox,
  front,
  github,
  gitlab,
  gocardless,
  hubspot,
  intercom,
  lark,
  line,
  linear,
  lithic,
  loops,
  mailgun,
  "microsoft-graph": microsoftGraph,
  mollie,
  monday,
  notion,
  okta,
  openai,
  paddle,
  pagerduty,
  polar,
  razorpay,
  recall,
  render,
  replicate,
  resend,
  sanity,
  sendgrid: ({ secret }) => sendgrid({ publicKey: secret }),
  sentry,
  shipbob,
  shopify,
  slack,
  smartcar,
  square,
  "standard-webhooks": standardWebhooks,
  stripe,
  svix,
  telnyx: ({ secret }) => telnyx({ publicKey: secret }),
  trello,
  twilio,
  "twilio-events": twilioEvents,
  twitch,
  typeform,
  wise: ({ secret }) => wise({ publicKey: secret }),
  workos,
  xero,
  zendesk,
  zoom,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

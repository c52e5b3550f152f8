import type { SourceDefinition } from "../source-definition.ts";
import { adyen } from "./adyen.ts";
import { adyenPlatform } from "./adyen-platform.ts";
import { airtable } from "./airtable.ts";
import { airwallex } from "./airwallex.ts";
import { anthropic } from "./anthropic.ts";
import { asana } from "./asana.ts";
import { auth0 } from "./auth0.ts";
import { bigcommerce } from "./bigcommerce.ts";
import { bitbucket } from "./bitbucket.ts";
import { box } from "./box.ts";
import { brex } from "./brex.ts";
import { calendly } from "./calendly.ts";
import { chargebee } from "./chargebee.ts";
import { checkoutCom } from "./checkout-com.ts";
import { clerk } from "./clerk.ts";
import { cloudflare } from "./cloudflare.ts";
import { cloudinary } from "./cloudinary.ts";
import { coinbaseCommerce } from "./coinbase-commerce.ts";
import { commerceLayer } from "./commerce-layer.ts";
import { contentful } from "./contentful.ts";
import { customerIo } from "./customer-io.ts";
import { discord } from "./discord.ts";
import { docusign } from "./docusign.ts";
import { dropbox } from "./dropbox.ts";
import { dropboxSign } from "./dropbox-sign.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { fastspring } from "./fastspring.ts";
import { figma } from "./figma.ts";
import { flutterwave } from "./flutterwave.ts";
import { front } from "./front.ts";
import { fusionauth } from "./fusionauth.ts";
import { gemini } from "./gemini.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import type { SecretOption } from "./given-secrets.ts";
import { gocardless } from "./gocardless.ts";
import { hubspot } from "./hubspot.ts";
import { intercom } from "./intercom.ts";
import { jira } from "./jira.ts";
import { lark } from "./lark.ts";
import { lemonSqueezy } from "./lemon-squeezy.ts";
import { line } from "./line.ts";
import { linear } from "./linear.ts";
import { linkedin } from "./linkedin.ts";
import { lithic } from "./lithic.ts";
import { loops } from "./loops.ts";
import { mailgun } from "./mailgun.ts";
import { microsoftGraph } from "./microsoft-graph.ts";
import { mollie } from "./mollie.ts";
import { monday } from "./monday.ts";
import type { PresetName } from "./names.ts";
import { notion } from "./notion.ts";
import { nylas } from "./nylas.ts";
import { okta } from "./okta.ts";
import { openai } from "./openai.ts";
import { paddle } from "./paddle.ts";
import { pagerduty } from "./pagerduty.ts";
import { paystack } from "./paystack.ts";
import { pipedrive } from "./pipedrive.ts";
import { polar } from "./polar.ts";
import { postmark } from "./postmark.ts";
import { razorpay } from "./razorpay.ts";
import { recall } from "./recall.ts";
import { recharge } from "./recharge.ts";
import { render } from "./render.ts";
import { replicate } from "./replicate.ts";
import { resend } from "./resend.ts";
import { retell } from "./retell.ts";
import { revenuecat } from "./revenuecat.ts";
import { revolut } from "./revolut.ts";
import { ringcentral } from "./ringcentral.ts";
import { sanity } from "./sanity.ts";
import { sendgrid } from "./sendgrid.ts";
import { sentry } from "./sentry.ts";
import { sharepoint } from "./sharepoint.ts";
import { shipbob } from "./shipbob.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { smartcar } from "./smartcar.ts";
import { solidgate } from "./solidgate.ts";
import { square } from "./square.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { telegram } from "./telegram.ts";
import { telnyx } from "./telnyx.ts";
import { tiktok } from "./tiktok.ts";
import { trello } from "./trello.ts";
import { twilio } from "./twilio.ts";
import { twilioEvents } from "./twilio-events.ts";
import { twitch } from "./twitch.ts";
import { typeform } from "./typeform.ts";
import { vercel } from "./vercel.ts";
import { walmart } from "./walmart.ts";
import { wise } from "./wise.ts";
import { woocommerce } from "./woocommerce.ts";
import { workos } from "./workos.ts";
import { x } from "./x.ts";
import { xero } from "./xero.ts";
import { zendesk } from "./zendesk.ts";
import { zoom } from "./zoom.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  adyen,
  "adyen-platform": adyenPlatform,
  airtable,
  airwallex,
  anthropic,
  asana,
  auth0,
  bigcommerce,
  bitbucket,
  box,
  brex,
  calendly,
  chargebee,
  "checkout-com": checkoutCom,
  clerk,
  cloudflare,
  cloudinary,
  "coinbase-commerce": coinbaseCommerce,
  "commerce-layer": commerceLayer,
  contentful,
  "customer-io": customerIo,
  discord: ({ secret }) => discord({ publicKey: secret }),
  docusign,
  dropbox,
  "dropbox-sign": dropboxSign,
  elevenlabs,
  fastspring,
  figma,
  flutterwave,
  front,
  fusionauth,
  gemini,
  github,
  gitlab,
  gocardless,
  hubspot,
  intercom,
  jira,
  lark,
  "lemon-squeezy": lemonSqueezy,
  line,
  linear,
  linkedin,
  lithic,
  loops,
  mailgun,
  "microsoft-graph": microsoftGraph,
  mollie,
  monday,
  notion,
  nylas,
  okta,
  openai,
  paddle,
  pagerduty,
  paystack,
  pipedrive,
  polar,
  postmark,
  razorpay,
  recall,
  recharge,
  render,
  replicate,
  resend,
  retell,
  revenuecat,
  revolut,
  ringcentral,
  sanity,
  sendgrid: ({ secret }) => sendgrid({ publicKey: secret }),
  sentry,
  sharepoint,
  shipbob,
  shopify,
  slack,
  smartcar,
  solidgate,
  square,
  "standard-webhooks": standardWebhooks,
  stripe,
  svix,
  telegram,
  telnyx: ({ secret }) => telnyx({ publicKey: secret }),
  tiktok,
  trello,
  twilio,
  "twilio-events": twilioEvents,
  twitch,
  typeform,
  vercel,
  walmart,
  wise: ({ secret }) => wise({ publicKey: secret }),
  woocommerce,
  workos,
  x,
  xero,
  zendesk,
  zoom,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

/** Those that `SOURCES` may name, each a function of one secret, or of several while it is rotated; in order. */
const NAMES = [
  "adyen adyen-platform airtable airwallex anthropic asana auth0",
  "bigcommerce bitbucket box brex",
  "calendly chargebee checkout-com clerk cloudflare cloudinary coinbase-commerce commerce-layer",
  "contentful customer-io",
  "discord docusign dropbox dropbox-sign",
  "elevenlabs",
  "fastspring figma flutterwave front fusionauth",
  "gemini github gitlab gocardless",
  "hubspot",
  "intercom",
  "jira",
  "lark lemon-squeezy line linear linkedin lithic loops",
  "mailgun microsoft-graph mollie monday",
  "notion nylas",
  "okta openai",
  "paddle pagerduty paystack pipedrive polar postmark",
  "razorpay recall recharge render replicate resend retell revenuecat revolut ringcentral",
  "sanity sendgrid sentry sharepoint shipbob shopify slack smartcar solidgate square standard-webhooks",
  "stripe svix",
  "telegram telnyx tiktok trello twilio twilio-events twitch typeform",
  "vercel",
  "walmart wise woocommerce workos",
  "x xero",
  "zendesk zoom",
] as const;

type Words<Text> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

export type PresetName = Words<(typeof NAMES)[number]>;

export const PRESET_NAMES = NAMES.flatMap((names) => names.split(" ")) as readonly PresetName[];

/** The functions of `oncehook/sources` that need more than a secret. */
export const FUNCTIONS_WITH_OPTIONS: readonly string[] = [
  "alipay antom appleAppStore awsSns braintree custom dingtalk ebay googlePubSub hmac livekit",
  "messageSignatures meta paypal plaid publicKey tiktokShop token wechatPay whatsapp wix",
].flatMap((names) => names.split(" "));

/** The function of a preset that a secret is enough for: `adyenPlatform` of `adyen-platform`. */
export function functionOf(name: PresetName): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What to do about a name, in either spelling, that needs more than a secret; undefined for any other name. */
export function moreThanSecret(name: string): string | undefined {
  const bare = name.replaceAll("-", "").toLowerCase();
  const found = FUNCTIONS_WITH_OPTIONS.find((one) => one.toLowerCase() === bare);
  if (found === undefined) return undefined;
  return (
    `${name} needs more than a secret: import { ${found} } from "oncehook/sources" in oncehook.config.ts, and name it ` +
    "in `sources` (docs/platforms.md)"
  );
}

/** Those whose platform chooses the secret and sends it, so that none need be set. */
export const LEARNING_PRESETS: ReadonlySet<string> = new Set(["asana", "notion"]);

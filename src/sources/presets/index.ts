/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { adyen } from "./adyen.ts";
import { adyenPlatform } from "./adyen-platform.ts";
import { discord } from "./discord.ts";
import { github } from "./github.ts";
import { hubspot } from "./hubspot.ts";
import { monday } from "./monday.ts";
import type { PresetName } from "./names.ts";
import type { SecretOption } from "./preset.ts";
import { sendgrid } from "./sendgrid.ts";
import { stripe } from "./stripe.ts";
import { telnyx } from "./telnyx.ts";
import { twilio } from "./twilio.ts";
import { twilioEvents } from "./twilio-events.ts";
import { wise } from "./wise.ts";

export type { SourceDefinition } from "../source-definition.ts";
export { adyen } from "./adyen.ts";
export { adyenPlatform } from "./adyen-platform.ts";
export { type AppleAppStoreOptions, appleAppStore } from "./apple-app-store.ts";
export { type AwsSnsOptions, awsSns } from "./aws-sns.ts";
export { discord } from "./discord.ts";
export { github } from "./github.ts";
export { type GooglePubSubOptions, googlePubSub } from "./google-pubsub.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { hubspot } from "./hubspot.ts";
export { type LivekitOptions, livekit } from "./livekit.ts";
export { type MondayOptions, monday } from "./monday.ts";
export { type PayPalOptions, paypal } from "./paypal.ts";
export { type PlaidOptions, plaid } from "./plaid.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export type { PublicKeyOptions } from "./public-key-preset.ts";
export { sendgrid } from "./sendgrid.ts";
export { stripe } from "./stripe.ts";
export { telnyx } from "./telnyx.ts";
export { twilio } from "./twilio.ts";
export { twilioEvents } from "./twilio-events.ts";
export { wise } from "./wise.ts";

/** Those that need nothing but a secret, or the platform's public key in its place, which `SOURCES` may name. */
export const PRESETS = {
  adyen,
  "adyen-platform": adyenPlatform,
  discord: ({ secret }) => discord({ publicKey: secret }),
  github,
  hubspot,
  monday,
  sendgrid: ({ secret }) => sendgrid({ publicKey: secret }),
  stripe,
  telnyx: ({ secret }) => telnyx({ publicKey: secret }),
  twilio,
  "twilio-events": twilioEvents,
  wise: ({ secret }) => wise({ publicKey: secret }),
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

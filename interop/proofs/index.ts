import type { PlatformProof } from "../platform-proof.ts";
import { adyenPlatformProof, adyenProof } from "./adyen.ts";
import { appleAppStoreProof } from "./apple-app-store.ts";
import { awsSnsProof } from "./aws-sns.ts";
import { discordProof } from "./discord.ts";
import { githubProof } from "./github.ts";
import { googlePubSubProof } from "./google-pubsub.ts";
import { hubspotProof } from "./hubspot.ts";
import { livekitProof } from "./livekit.ts";
import { mondayProof } from "./monday.ts";
import { plaidProof } from "./plaid.ts";
import { sendgridProof } from "./sendgrid.ts";
import { stripeProof } from "./stripe.ts";
import { telnyxProof } from "./telnyx.ts";
import { twilioEventsProof, twilioProof } from "./twilio.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  adyenPlatformProof,
  adyenProof,
  appleAppStoreProof,
  awsSnsProof,
  discordProof,
  githubProof,
  googlePubSubProof,
  hubspotProof,
  livekitProof,
  mondayProof,
  plaidProof,
  sendgridProof,
  stripeProof,
  telnyxProof,
  twilioEventsProof,
  twilioProof,
];

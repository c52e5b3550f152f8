import type { PlatformProof } from "../platform-proof.ts";
import { adyenPlatformProof, adyenProof } from "./adyen.ts";
import { awsSnsProof } from "./aws-sns.ts";
import { discordProof } from "./discord.ts";
import { githubProof } from "./github.ts";
import { hubspotProof } from "./hubspot.ts";
import { sendgridProof } from "./sendgrid.ts";
import { stripeProof } from "./stripe.ts";
import { telnyxProof } from "./telnyx.ts";
import { twilioProof } from "./twilio.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  adyenPlatformProof,
  adyenProof,
  awsSnsProof,
  discordProof,
  githubProof,
  hubspotProof,
  sendgridProof,
  stripeProof,
  telnyxProof,
  twilioProof,
];

import type { PlatformProof } from "../platform-proof.ts";
import { discordProof } from "./discord.ts";
import { githubProof } from "./github.ts";
import { sendgridProof } from "./sendgrid.ts";
import { stripeProof } from "./stripe.ts";
import { telnyxProof } from "./telnyx.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  discordProof,
  githubProof,
  sendgridProof,
  stripeProof,
  telnyxProof,
];

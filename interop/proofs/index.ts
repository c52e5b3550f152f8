import type { PlatformProof } from "../platform-proof.ts";
import { githubProof } from "./github.ts";
import { gocardlessProof } from "./gocardless.ts";
import { lineProof } from "./line.ts";
import { linearProof } from "./linear.ts";
import { paddleProof } from "./paddle.ts";
import { razorpayProof } from "./razorpay.ts";
import { shopifyProof } from "./shopify.ts";
import { slackProof } from "./slack.ts";
import { squareProof } from "./square.ts";
import { stripeProof } from "./stripe.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  githubProof,
  gocardlessProof,
  lineProof,
  linearProof,
  paddleProof,
  razorpayProof,
  shopifyProof,
  slackProof,
  squareProof,
  stripeProof,
];

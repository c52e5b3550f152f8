import type { PlatformProof } from "../platform-proof.ts";
import { boxProof } from "./box.ts";
import { githubProof } from "./github.ts";
import { gocardlessProof } from "./gocardless.ts";
import { lineProof } from "./line.ts";
import { linearProof } from "./linear.ts";
import { paddleProof } from "./paddle.ts";
import { razorpayProof } from "./razorpay.ts";
import { shopifyProof } from "./shopify.ts";
import { slackProof } from "./slack.ts";
import { smartcarProof } from "./smartcar.ts";
import { squareProof } from "./square.ts";
import { stripeProof } from "./stripe.ts";
import { zoomProof } from "./zoom.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  boxProof,
  githubProof,
  gocardlessProof,
  lineProof,
  linearProof,
  paddleProof,
  razorpayProof,
  shopifyProof,
  slackProof,
  smartcarProof,
  squareProof,
  stripeProof,
  zoomProof,
];

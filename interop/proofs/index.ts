import type { PlatformProof } from "../platform-proof.ts";
import { boxProof } from "./box.ts";
import { braintreeProof } from "./braintree.ts";
import { coinbaseCommerceProof } from "./coinbase-commerce.ts";
import { contentfulProof } from "./contentful.ts";
import { githubProof } from "./github.ts";
import { gocardlessProof } from "./gocardless.ts";
import { lineProof } from "./line.ts";
import { linearProof } from "./linear.ts";
import { notionProof } from "./notion.ts";
import { paddleProof } from "./paddle.ts";
import { razorpayProof } from "./razorpay.ts";
import { sanityProof } from "./sanity.ts";
import { shopifyProof } from "./shopify.ts";
import { slackProof } from "./slack.ts";
import { smartcarProof } from "./smartcar.ts";
import { squareProof } from "./square.ts";
import { standardProofs } from "./standard-webhooks.ts";
import { stripeProof } from "./stripe.ts";
import { workosProof } from "./workos.ts";
import { zoomProof } from "./zoom.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  boxProof,
  braintreeProof,
  coinbaseCommerceProof,
  contentfulProof,
  githubProof,
  gocardlessProof,
  linearProof,
  lineProof,
  notionProof,
  paddleProof,
  razorpayProof,
  sanityProof,
  shopifyProof,
  slackProof,
  smartcarProof,
  squareProof,
  ...standardProofs,
  stripeProof,
  workosProof,
  zoomProof,
];

import type { PlatformProof } from "../platform-proof.ts";
import { braintreeProof } from "./braintree.ts";
import { coinbaseCommerceProof } from "./coinbase-commerce.ts";
import { contentfulProof } from "./contentful.ts";
import { githubProof } from "./github.ts";
import { notionProof } from "./notion.ts";
import { sanityProof } from "./sanity.ts";
import { standardProofs } from "./standard-webhooks.ts";
import { stripeProof } from "./stripe.ts";
import { workosProof } from "./workos.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  braintreeProof,
  coinbaseCommerceProof,
  contentfulProof,
  githubProof,
  notionProof,
  sanityProof,
  ...standardProofs,
  stripeProof,
  workosProof,
];

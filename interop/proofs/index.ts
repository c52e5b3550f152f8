import type { PlatformProof } from "../platform-proof.ts";
import { githubProof } from "./github.ts";
import { larkProof } from "./lark.ts";
import { stripeProof } from "./stripe.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [githubProof, larkProof, stripeProof];

import type { PlatformProof } from "../platform-proof.ts";
import { alipayProof } from "./alipay.ts";
import { dingtalkProof } from "./dingtalk.ts";
import { ebayProof } from "./ebay.ts";
import { githubProof } from "./github.ts";
import { larkProof } from "./lark.ts";
import { stripeProof } from "./stripe.ts";
import { wechatPayProof } from "./wechat-pay.ts";

/** Every preset that is called supported has its proof here. */
export const PROOFS: readonly PlatformProof[] = [
  alipayProof,
  dingtalkProof,
  ebayProof,
  githubProof,
  larkProof,
  stripeProof,
  wechatPayProof,
];

/** `oncehook/sources`: the presets of platforms, for `sources` in oncehook.config.ts. */
import type { SourceDefinition } from "../source-definition.ts";
import { github } from "./github.ts";
import { lark } from "./lark.ts";
import { microsoftGraph } from "./microsoft-graph.ts";
import type { PresetName } from "./names.ts";
import { okta } from "./okta.ts";
import type { SecretOption } from "./preset.ts";
import { stripe } from "./stripe.ts";

export type { WeChatMerchant } from "../schemes/wechat-certificates.ts";
export type { SourceDefinition } from "../source-definition.ts";
export { type AlipayOptions, alipay } from "./alipay.ts";
export { type AntomOptions, antom } from "./antom.ts";
export { type CustomSourceOptions, custom } from "./custom.ts";
export { type DingTalkOptions, dingtalk } from "./dingtalk.ts";
export { type EbayOptions, ebay } from "./ebay.ts";
export { github } from "./github.ts";
export { type HmacSourceOptions, hmac } from "./hmac.ts";
export { type LarkOptions, lark } from "./lark.ts";
export { type MessageSignatureSourceOptions, messageSignatures } from "./message-signatures.ts";
export { microsoftGraph } from "./microsoft-graph.ts";
export { okta } from "./okta.ts";
export type { PresetOptions, SecretOption } from "./preset.ts";
export { type PublicKeySourceOptions, publicKey } from "./public-key.ts";
export { stripe } from "./stripe.ts";
export { type TokenSourceOptions, token } from "./token.ts";
export { type WeChatPayOptions, wechatPay } from "./wechat-pay.ts";

/** Those that need nothing but a secret, which `SOURCES` may name. */
export const PRESETS = {
  github,
  lark,
  "microsoft-graph": microsoftGraph,
  okta,
  stripe,
} satisfies Record<PresetName, (options: { readonly secret: SecretOption }) => SourceDefinition>;

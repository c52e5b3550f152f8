import { optionsPreset } from "../../presets/preset.ts";
import type { PublicKeyOptions } from "../../presets/public-key-preset.ts";
import { secretParts } from "../../presets/secrets.ts";
import { createFormSignatureScheme } from "./form-signature.ts";

export type { PublicKeyOptions as AlipayOptions } from "../../presets/public-key-preset.ts";

const FAILURE = { body: "fail" };

/** Ids, codes, amounts and times: what a merchant or a buyer writes freely (`subject`, `body`) may hold `&`. */
const PLAIN = [
  "app_id",
  "auth_app_id",
  "buyer_id",
  "charset",
  "gmt_close",
  "gmt_create",
  "gmt_payment",
  "gmt_refund",
  "notify_id",
  "notify_time",
  "notify_type",
  "out_trade_no",
  "refund_fee",
  "seller_id",
  "total_amount",
  "trade_no",
  "trade_status",
];

/**
 * Alipay's asynchronous notifications: a form with `sign`, RSA-SHA256 (`RSA2`) over its sorted fields. Only `RSA2` is
 * taken, and only forms in UTF-8 (the application's `charset`). The response must be the seven letters `success`.
 * Alipay asks that a handler compares `app_id`, `out_trade_no` and `total_amount` with what it knows. The signed text
 * escapes neither `&` nor `=`. A field of free text, such as `subject`, may hold what was signed as the fields after
 * it. Source: alipay-sdk `checkNotifySignV2`, which takes the algorithm from the form;
 * https://docs.antom.com/ac/web/async (8 times within 25 hours).
 */
export const alipay = optionsPreset<PublicKeyOptions>("alipay", {
  docs: "https://docs.open.alipay.com/270/105902",
  proof: "verifies",
  retryHours: 25,
  signs: "RSA-SHA256 over the sorted fields of the body",
  body: "form",
  id: "body.notify_id",
  type: ["{body.notify_type}.{body.trade_status}", "body.notify_type"],
  responses: { received: { body: "success" }, refused: FAILURE, failed: FAILURE },
  options: { publicKey: "required" },
  make(options) {
    const use = { settings: options, option: "publicKey" };
    return {
      ...secretParts(options.publicKey, use, (keys) => createFormSignatureScheme(keys, PLAIN)),
      secrets: [],
      credential: { fields: ["sign"] },
    };
  },
});

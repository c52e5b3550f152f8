import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isRefused, type JsonValue, type Refused } from "../../../domain/index.ts";
import { parseForm } from "../../formats/form.ts";
import { optionError } from "../../option-error.ts";
import { malformed, refuse, type Scheme } from "../../schemes/scheme.ts";
import { assertSecret } from "../../schemes/secret-keys.ts";

/** One API key of a merchant. */
export interface BraintreeKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

const SIGNATURE = /^[0-9a-f]{40}$/;
const PAYLOAD = /^[A-Za-z0-9+/=\n]+$/;
const CHALLENGE = /^[0-9a-f]{20,32}$/;
const MAX_PAIRS = 16;

/**
 * Braintree: a form of `bt_payload` (base64) and `bt_signature`, pairs `publicKey|hex` with `&` between them: HMAC-SHA1
 * over the payload's text, with or without a newline after it. Its key is the SHA-1 of the private key. Source:
 * braintree_node `lib/braintree/webhook_notification_gateway.js`, `digest.js`. The form is taken apart before it is
 * verified, bounded as any body.
 * @param keys the current one first @throws TypeError for an empty key, and for one with other pasted text
 */
export function createBraintreeScheme(keys: readonly BraintreeKeys[]): Scheme {
  if (keys.length === 0) throw optionError("keys", "none", "at least one");
  const signers = keys.map(({ publicKey, privateKey }) => {
    return { publicKey: assertSecret(publicKey, { option: "keys.publicKey" }), sign: createSigner(privateKey) };
  });
  return {
    challenge: 'Signature realm="callbacks", algorithm="hmac-sha1", in="body"',
    verify({ body }) {
      const form = readForm(body);
      if ("kind" in form) return form;
      const { payload, pairs } = form;
      let isKnown = false;
      for (const [index, { publicKey, sign }] of signers.entries()) {
        const claimed = pairs.filter((pair) => pair.publicKey === publicKey);
        if (claimed.length === 0) continue;
        isKnown = true;
        const right = [sign(payload), sign(`${payload}\n`)];
        const matches = claimed.flatMap(({ digest }) => right.map((one) => timingSafeEqual(one, digest)));
        if (matches.includes(true)) return { verified: [{ method: "hmac", index }] };
      }
      const reason = isKnown ? "made with another private key, or over another payload" : "of another public key";
      return refuse("signature_mismatch", `\`bt_signature\`: ${reason}`);
    },
  };
}

/** The proof to Braintree that the address is of this merchant; undefined for a text that is no challenge. */
export function answerBraintreeChallenge(
  { publicKey, privateKey }: BraintreeKeys,
  challenge: JsonValue | undefined,
): string | undefined {
  // The same key signs events: only what cannot be one is signed for a sender.
  if (typeof challenge !== "string" || !CHALLENGE.test(challenge)) return undefined;
  return `${publicKey}|${createSigner(privateKey)(challenge).toString("hex")}`;
}

function createSigner(privateKey: string): (text: string) => Buffer {
  const key = createHash("sha1")
    .update(assertSecret(privateKey, { option: "keys.privateKey" }), "latin1")
    .digest();
  return (text) => createHmac("sha1", key).update(text, "latin1").digest();
}

interface SignedForm {
  readonly payload: string;
  readonly pairs: readonly { readonly publicKey: string; readonly digest: Buffer }[];
}

function readForm(body: Uint8Array): SignedForm | Refused {
  const form = parseForm(body);
  if (isRefused(form)) return malformed("the body is no form");
  const { bt_payload: payload, bt_signature: signature } = form.value;
  if (signature === undefined || payload === undefined)
    return refuse("signature_missing", "`bt_signature`, `bt_payload`: missing from the form");
  if (typeof signature !== "string" || typeof payload !== "string")
    return refuse("signature_repeated", "`bt_signature`, `bt_payload`: expected each once");
  if (!PAYLOAD.test(payload) || CHALLENGE.test(payload)) return malformed("`bt_payload`: expected base64");
  const pairs = signature.split("&", MAX_PAIRS + 1).map((pair) => pair.split("|", 2));
  const read = pairs.flatMap(([publicKey = "", hex = ""]) =>
    SIGNATURE.test(hex) ? [{ publicKey, digest: Buffer.from(hex, "hex") }] : [],
  );
  if (pairs.length > MAX_PAIRS || read.length === 0)
    return malformed(`\`bt_signature\`: expected up to ${MAX_PAIRS} of \`key|40 hex digits\``);
  return { payload, pairs: read };
}

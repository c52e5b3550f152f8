import { isRefused, type JsonObject, type Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import { parseForm } from "../../formats/form.ts";
import { optionError } from "../../option-error.ts";
import { isSignedBy, namedPublicKey } from "../../schemes/public-keys.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";

const SIGN = "sign";
const SIGN_TYPE = "sign_type";
/** RSA-SHA256. The form names its own algorithm, and RSA-SHA1 (`RSA`) must not be the sender's choice. */
const RSA2 = "RSA2";

/**
 * Alipay's signature inside a form: RSA-SHA256 over `name=value` of all other fields but `sign_type`, sorted by name and
 * joined by `&`, decoded. The form is taken apart before it is verified, which cannot be avoided: bounded as any body. A
 * field that stands twice is refused, since either of both could be the signed one. Values are not escaped, as in
 * alipay-sdk `notifyRSACheck`.
 * @param keys the platform's, RSA of at least 2048 bits: PEM, or base64 as it shows them; the current one first
 * @param plain the fields that hold neither `&` nor `=`. The signed text escapes neither, so any other field could take
 * in those that follow it. An event could then have a new id with the same signature.
 * @throws TypeError for a key that cannot be read
 */
export function createFormSignatureScheme(keys: readonly string[], plain: readonly string[]): Scheme {
  const publicKeys = keys.map((text, index) =>
    namedPublicKey({ option: "publicKey", place: { index, of: keys.length } }, text, "rsa-sha256", "base64"),
  );
  if (publicKeys.length === 0) throw optionError("publicKey", "none", "at least one");
  return {
    challenge: 'Signature realm="callbacks", algorithm="rsa-sha256", in="body"',
    isCostly: true,
    verify({ body }) {
      const form = parseForm(body);
      if (isRefused(form)) return malformed(`the body: ${form.code}`);
      const { [SIGN]: claimed, [SIGN_TYPE]: type, ...fields } = form.value;
      if (claimed === undefined || claimed === "")
        return missingCredential("signature_missing", `\`${SIGN}\`: missing from the form`);
      const signature = typeof claimed === "string" ? decodeExactly(claimed, "base64") : undefined;
      if (signature === undefined) return malformed(`\`${SIGN}\`: expected base64, once`);
      if (type !== RSA2) return malformed(`\`${SIGN_TYPE}\`: expected ${RSA2}`);
      const content = signedContent(fields, plain);
      if (isRefused(content)) return content;
      const index = publicKeys.findIndex((key) => isSignedBy(key, "rsa-sha256", { content: [content], signature }));
      if (index !== -1) return { verified: [{ method: "public_key", index }] };
      return refuse("signature_mismatch", `\`${SIGN}\`: made with another key, or over another form`);
    },
  };
}

const SEPARATOR = /[&=]/;

function signedContent(fields: JsonObject, plain: readonly string[]): Buffer | Refused {
  const pairs: string[] = [];
  for (const name of Object.keys(fields).sort()) {
    if (name === "") continue;
    const value = fields[name];
    if (typeof value !== "string") return malformed("a field stands more than once");
    if (SEPARATOR.test(name)) return malformed("the name of a field holds `&` or `=`");
    if (SEPARATOR.test(value) && plain.includes(name))
      return malformed(`${name}: holds \`&\` or \`=\`, which the signed text does not escape`);
    pairs.push(`${name}=${value}`);
  }
  return Buffer.from(pairs.join("&"), "utf8");
}

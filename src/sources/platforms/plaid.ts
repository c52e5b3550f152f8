import { isJsonObject, parseJson } from "../../domain/index.ts";
import { platformJwt } from "../presets/jwt-preset.ts";
import { assertOneOf, requireHttps, requireText } from "../presets/options.ts";
import { optionsPreset } from "../presets/preset.ts";
import { type FixedSecretOptions, requiredTexts } from "../presets/secrets.ts";
import { keysById } from "../schemes/jwks-keys.ts";
import { requestKeys } from "../schemes/key-request.ts";
import { assertSecret } from "../schemes/secret-keys.ts";
import { credentialHeader } from "../schemes/token.ts";

export interface PlaidOptions extends FixedSecretOptions {
  /** Of the account, with which `secret` asks Plaid for its verification keys; several secrets are asked with in turn. */
  readonly clientId: string;
  /** Default: `production`. */
  readonly environment?: "production" | "sandbox";
  /** Plaid's API, where it is reached through another address. */
  readonly apiUrl?: string;
  /** How old a token may be. Plaid's page says 300, and not whether a retry has a new token. Default: not checked. */
  readonly maxAgeSeconds?: number;
}

const ADDRESSES = { production: "https://production.plaid.com", sandbox: "https://sandbox.plaid.com" };
const PATH = "/webhook_verification_key/get";
const UNKNOWN_KEY = "INVALID_WEBHOOK_VERIFICATION_KEY_ID";

/**
 * Plaid: a JWT by a key that Plaid's API hands out by its `kid`. A key that has expired signs nothing. Plaid's SDKs
 * fetch a key and verify nothing: the proof is a webhook of its sandbox. It does not retry where more than 90 % of a
 * day's webhooks were rejected. Source: plaid.com/docs/api/webhooks/webhook-verification; plaid.com/docs/api/webhooks.
 */
export const plaid = optionsPreset<PlaidOptions>("plaid", {
  docs: "https://plaid.com/docs/api/webhooks/webhook-verification/",
  proof: "verifies",
  identity: {
    key: "delivery",
    why: "no id and no time: the same hint is sent at each update",
    source: "https://plaid.com/docs/api/products/transactions/#sync_updates_available",
  },
  deadlineSeconds: 10,
  retryHours: 24,
  signs: "JWT (ES256, keys of Plaid's API) with the SHA-256 of the body",
  id: "sha256",
  type: "{body.webhook_type}.{body.webhook_code}",
  options: {
    secret: "required",
    clientId: "required",
    environment: "optional",
    apiUrl: "optional",
    maxAgeSeconds: "optional",
  },
  open: "a webhook names none, so act only on an `item_id` that you have stored",
  make(options) {
    const { environment = "production", maxAgeSeconds } = options;
    const secrets = requiredTexts(options.secret).map((secret) => assertSecret(secret));
    const clientId = requireText("clientId", options.clientId, "61e0ab1c2f3d4e0013c5a6b7");
    assertOneOf("environment", environment, Object.keys(ADDRESSES));
    const url = requireHttps("apiUrl", options.apiUrl ?? ADDRESSES[environment]) + PATH;
    return {
      secrets,
      credential: { headers: ["Plaid-Verification"] },
      scheme: ({ clock }) =>
        platformJwt({
          algorithm: "ES256",
          keys: keysById((kid) => fetchKey(url, { clientId, secrets, kid }), { name: "Plaid" }),
          header: credentialHeader("Plaid-Verification"),
          bodyClaim: "request_body_sha256",
          requiredClaims: ["iat"],
          ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
          clock,
        }),
    };
  },
});

interface KeyQuestion {
  readonly clientId: string;
  readonly secrets: readonly string[];
  readonly kid: string;
}

/** @returns undefined for a key that does not exist, or has expired @throws where Plaid takes none of the secrets */
async function fetchKey(url: string, { clientId, secrets, kid }: KeyQuestion): Promise<object | undefined> {
  let failure: unknown;
  for (const secret of secrets) {
    try {
      const text = await requestKeys(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ client_id: clientId, secret, key_id: kid }),
        absent: isUnknownKey,
      });
      return text === undefined ? undefined : keyIn(text);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** A wrong secret has the status 400 too, and says nothing of the key. */
async function isUnknownKey(response: Response): Promise<boolean> {
  if (response.status !== 400) return false;
  const answer = parseJson(await response.text());
  return isJsonObject(answer) && answer.error_code === UNKNOWN_KEY;
}

function keyIn(text: string): object | undefined {
  const answer = parseJson(text);
  const key = isJsonObject(answer) ? answer.key : undefined;
  if (!isJsonObject(key)) throw new Error("Plaid answers without a key");
  return (key.expired_at ?? null) === null ? key : undefined;
}

import { randomBytes } from "node:crypto";
import type { JsonObject } from "../domain/index.ts";
import type { TokenEndpoint } from "./exchange-code.ts";

export const SANDBOX_TOKEN_PATH = "/sandbox/oauth/token";
export const SANDBOX_CLIENT = { clientId: "sandbox", clientSecret: "sandbox" } as const;

/** Codes with which a developer sees the two ways an exchange can fail. */
export const SANDBOX_REFUSED_CODE = "sandbox_refused";
export const SANDBOX_UNAVAILABLE_CODE = "sandbox_unavailable";

export function sandboxEndpoint(adminOrigin: string): TokenEndpoint {
  return { tokenUrl: `${adminOrigin}${SANDBOX_TOKEN_PATH}`, ...SANDBOX_CLIENT };
}

/**
 * The token endpoint of the sandbox platform: outside production it stands in for an authorization server, over
 * real HTTP. It takes any code, since a developer makes them up, and answers with tokens that open nothing.
 */
export function sandboxToken(form: URLSearchParams, authorization: string | undefined): SandboxAnswer {
  const { clientId, clientSecret } = SANDBOX_CLIENT;
  const expected = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  if (authorization !== expected) return { status: 401, body: { error: "invalid_client" } };
  if (form.get("grant_type") !== "authorization_code") {
    return { status: 400, body: { error: "unsupported_grant_type" } };
  }
  const code = form.get("code") ?? "";
  if (code === SANDBOX_UNAVAILABLE_CODE) return { status: 503, body: { error: "temporarily_unavailable" } };
  if (code === "" || code === SANDBOX_REFUSED_CODE) return { status: 400, body: { error: "invalid_grant" } };
  return {
    status: 200,
    body: {
      access_token: randomBytes(24).toString("base64url"),
      refresh_token: randomBytes(24).toString("base64url"),
      token_type: "Bearer",
      expires_in: 3600,
      user_id: "sandbox-user",
    },
  };
}

export interface SandboxAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

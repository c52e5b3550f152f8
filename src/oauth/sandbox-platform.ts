import { createHash, randomBytes } from "node:crypto";
import type { JsonObject } from "../domain/index.ts";
import type { PlatformSettings } from "./platform.ts";

export const SANDBOX_AUTHORIZE_PATH = "/sandbox/oauth/authorize";
export const SANDBOX_TOKEN_PATH = "/sandbox/oauth/token";
const CLIENT = { clientId: "sandbox", clientSecret: "sandbox" } as const;

/** Codes with which a developer sees the two ways an exchange can fail. */
const REFUSED_CODE = "sandbox_refused";
const UNAVAILABLE_CODE = "sandbox_unavailable";
/** A code of a flow carries its PKCE challenge, so that the sandbox needs no memory. */
const CHALLENGE = /^[\w-]{43}$/;
const FLOW_CODE = /^sandbox_flow_[\w-]{16}_([\w-]{43})$/;

/** The sandbox platform: outside production it stands in for an authorization server, over real HTTP. */
export function sandboxSettings(adminOrigin: string): PlatformSettings {
  return {
    issuer: null,
    authorizationUrl: `${adminOrigin}${SANDBOX_AUTHORIZE_PATH}`,
    tokenUrl: `${adminOrigin}${SANDBOX_TOKEN_PATH}`,
    scope: null,
    ...CLIENT,
  };
}

/**
 * Grants at once and sends the browser back. Undefined for a request that does not start a flow of this receiver.
 * @param redirectUri the one registered address, as real platforms have it
 */
export function sandboxAuthorize(query: URLSearchParams, redirectUri: string): string | undefined {
  const isRegistered = query.get("redirect_uri") === redirectUri;
  const back = isRegistered ? URL.parse(redirectUri) : null;
  const state = query.get("state");
  const challenge = query.get("code_challenge") ?? "";
  const isOurs = query.get("client_id") === CLIENT.clientId && query.get("response_type") === "code";
  const isPkce = query.get("code_challenge_method") === "S256" && CHALLENGE.test(challenge);
  if (!isOurs || back === null || state === null || !isPkce) return undefined;
  back.searchParams.set("code", `sandbox_flow_${randomBytes(12).toString("base64url")}_${challenge}`);
  back.searchParams.set("state", state);
  return back.href;
}

/** Takes any code, since a developer makes them up, and answers with tokens that open nothing. */
export function sandboxToken(
  form: URLSearchParams,
  authorization: string | undefined,
): { status: number; body: JsonObject } {
  const expected = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString("base64")}`;
  // biome-ignore lint/plugin: the sandbox's client is public, and its tokens open nothing.
  if (authorization !== expected) return { status: 401, body: { error: "invalid_client" } };
  const grant = form.get("grant_type");
  if (grant === "refresh_token") return { status: 200, body: tokens() };
  if (grant !== "authorization_code") return { status: 400, body: { error: "unsupported_grant_type" } };
  const code = form.get("code") ?? "";
  if (code === UNAVAILABLE_CODE) return { status: 503, body: { error: "temporarily_unavailable" } };
  if (code === "" || code === REFUSED_CODE || !isVerified(code, form.get("code_verifier") ?? "")) {
    return { status: 400, body: { error: "invalid_grant" } };
  }
  return { status: 200, body: tokens() };
}

/** RFC 7636 §4.6. */
function isVerified(code: string, verifier: string): boolean {
  const challenge = FLOW_CODE.exec(code)?.[1];
  // biome-ignore lint/plugin: the challenge stands in the code itself, which opens nothing.
  return challenge === undefined || createHash("sha256").update(verifier).digest("base64url") === challenge;
}

function tokens(): JsonObject {
  return {
    access_token: randomBytes(24).toString("base64url"),
    refresh_token: randomBytes(24).toString("base64url"),
    token_type: "Bearer",
    expires_in: 3600,
    user_id: "sandbox-user",
  };
}

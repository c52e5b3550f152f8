import { createHash, randomBytes } from "node:crypto";
import * as oauth from "oauth4webapi";
import type { Sealer } from "../seal/index.ts";

/** What a flow that was started here needs at its end. Kept encrypted, under the hash of its state. */
export interface Flow {
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  /** SHA-256 of the cookie that binds the flow to the browser in which it was started, as base64url. */
  readonly browser: string;
}

const SECRET_BYTES = 32;

/** Fresh values of 256 bits each; PKCE's verifier has 43 characters (RFC 7636 §4.1). */
export function newFlow(
  redirectUri: string,
  browser: string,
): { readonly state: string; readonly flow: Flow } {
  const flow = {
    codeVerifier: oauth.generateRandomCodeVerifier(),
    nonce: secret(),
    redirectUri,
    browser: browserHash(browser),
  };
  return { state: secret(), flow };
}

export function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export function browserHash(cookie: string): string {
  return createHash("sha256").update(cookie).digest("base64url");
}

export function sealFlow(flow: Flow, stateSha256: string, sealer: Sealer): Uint8Array {
  return sealer.seal(Buffer.from(JSON.stringify(flow)), flowContext(stateSha256));
}

export function openFlow(sealed: Uint8Array, stateSha256: string, sealer: Sealer): Flow {
  return JSON.parse(Buffer.from(sealer.open(sealed, flowContext(stateSha256))).toString("utf8"));
}

/** What a flow is sealed for. */
export function flowContext(stateSha256: string): string {
  return `redirect state ${stateSha256}`;
}

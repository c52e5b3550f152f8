import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromCanonicalBase64url, type SparingLog } from "../domain/index.ts";
import { DecryptionError, type Encryptor } from "../encryption/index.ts";
import type { Receiver, Source } from "../pipeline/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";
import { authorizationUrl } from "./authorization-code.ts";
import type { Platform } from "./platform.ts";

/** What a flow that was started here needs at its end. */
export interface Flow {
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly endsAt: Date;
}

/** A flow has this long, from its start to its redirect. */
export const FLOW_SECONDS = 600;

const SECRET_BYTES = 32;
const TIME_BYTES = 6;
const BINDING_BYTES = 16;
const SEED_BYTES = 16;
const STATE_BYTES = TIME_BYTES + BINDING_BYTES + SEED_BYTES;
/** Of the sealed bytes as base64url. The text is the state's identity, so only the canonical one of its bytes opens. */
const STATE = /^[\w-]{95}$/;

/**
 * A new flow. Its state is its own memory, encrypted: when it ends, in which browser it was started, and a seed. Verifier (RFC 7636
 * §4.1) and nonce are derived from the seed and the browser's secret, so that nothing is kept here until the flow has ended.
 * @param browser the secret of the browser's cookie
 */
export function newFlow(
  redirectUri: string,
  browser: string,
  now: Date,
  encryptor: Encryptor,
): { readonly state: string; readonly flow: Flow } {
  const plain = Buffer.alloc(STATE_BYTES);
  const endsAt = now.getTime() + FLOW_SECONDS * 1_000;
  plain.writeUIntBE(endsAt, 0, TIME_BYTES);
  bindingOf(browser).copy(plain, TIME_BYTES);
  randomBytes(SEED_BYTES).copy(plain, TIME_BYTES + BINDING_BYTES);
  const state = Buffer.from(encryptor.encrypt(plain, contextOf(redirectUri))).toString("base64url");
  return { state, flow: flowOf(plain, redirectUri, browser) };
}

/**
 * The flow that a state was made for.
 * @param browser the secret of the browser that brings it, if it brings one
 * @returns "unknown" for a state that was not made here, or has expired
 */
export function openFlow(
  state: string,
  redirectUri: string,
  browser: string | undefined,
  { now, encryptor }: { readonly now: Date; readonly encryptor: Encryptor },
): Flow | "unknown" | "of another browser" {
  const plain = STATE.test(state) ? decryptedState(state, redirectUri, encryptor) : undefined;
  if (plain === undefined) return "unknown";
  const left = plain.readUIntBE(0, TIME_BYTES) - now.getTime();
  // A clock that was set back must not lengthen a flow by more than its own time.
  if (left <= 0 || left > 2 * FLOW_SECONDS * 1_000) return "unknown";
  const binding = plain.subarray(TIME_BYTES, TIME_BYTES + BINDING_BYTES);
  if (browser === undefined || !timingSafeEqual(bindingOf(browser), binding)) return "of another browser";
  return flowOf(plain, redirectUri, browser);
}

export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function decryptedState(state: string, redirectUri: string, encryptor: Encryptor): Buffer | undefined {
  const encrypted = fromCanonicalBase64url(state);
  if (encrypted === undefined) return undefined;
  try {
    const plain = Buffer.from(encryptor.decrypt(encrypted, contextOf(redirectUri)));
    return plain.length === STATE_BYTES ? plain : undefined;
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

function flowOf(plain: Buffer, redirectUri: string, browser: string): Flow {
  const derived = (purpose: string): string =>
    createHmac("sha256", browser).update(purpose).update(plain).digest("base64url");
  const endsAt = new Date(plain.readUIntBE(0, TIME_BYTES));
  return { codeVerifier: derived("code verifier "), nonce: derived("nonce "), redirectUri, endsAt };
}

function bindingOf(browser: string): Buffer {
  return createHash("sha256").update(browser).digest().subarray(0, BINDING_BYTES);
}

function contextOf(redirectUri: string): string {
  return `OAuth state for ${redirectUri}`;
}

/** `__Host-` keeps other hosts and paths from setting it (RFC 6265bis §4.1.3.2). */
const COOKIE_NAME = "__Host-oncehook-browser";
const COOKIE_VALUE = /^[\w-]{43}$/;

export function browserOf(headers: DistinctHeaders): string | undefined {
  return cookieOf(headers.cookie ?? [], COOKIE_NAME, COOKIE_VALUE);
}

/** @param crossSite a form post comes from the platform's own page, and `Lax` would keep the cookie from it */
export function browserCookie(value: string, maxAgeSeconds: number, crossSite: boolean): string {
  const sameSite = crossSite ? "None" : "Lax";
  return `${COOKIE_NAME}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=${sameSite}`;
}

/** The value of a cookie in the lines of the `Cookie` header; undefined where it is missing, misshapen, or there twice. */
export function cookieOf(lines: readonly string[], name: string, shape: RegExp): string | undefined {
  const values = lines
    .flatMap((line) => line.split(";"))
    .flatMap((pair) => {
      const [key = "", value = ""] = pair.trim().split("=", 2);
      return key === name && shape.test(value) ? [value] : [];
    });
  return values.length === 1 ? values[0] : undefined;
}

/** What a user's flow needs, at its start and at its redirect. */
export interface FlowDependencies {
  readonly receiver: Receiver;
  /** The platform, whose signature or token is one of the two ways to authenticate a redirect. */
  readonly source: Source;
  readonly platform: () => Platform;
  readonly redirectUri: string;
  readonly responseMode: "query" | "form_post";
  /** For errors that any client that starts a flow can cause. */
  readonly sparing: SparingLog;
}

/**
 * The start of the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636), a state that works once and in this browser
 * only (RFC 9700 §4.7.1), and a nonce where OpenID Connect is spoken. It writes nothing: any client can start flows.
 * @throws Error when the platform cannot be discovered, or has no address to start at
 */
export async function startFlow(headers: DistinctHeaders, deps: FlowDependencies) {
  const { redirectUri, responseMode } = deps;
  const { encryptor, clock } = deps.receiver;
  const platform = deps.platform();
  const { authorization_endpoint: endpoint } = await platform.server();
  if (endpoint === undefined)
    throw new Error("OAUTH_AUTHORIZATION_URL: is not set, so no flow can be started here");
  const browser = browserOf(headers) ?? randomSecret();
  const { state, flow } = newFlow(redirectUri, browser, clock.now(), encryptor);
  return {
    location: await authorizationUrl(endpoint, platform, { ...flow, state, responseMode }),
    cookie: browserCookie(browser, FLOW_SECONDS, responseMode === "form_post"),
  };
}

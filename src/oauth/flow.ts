import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { fromCanonicalBase64url, type SparingLog } from "../domain/index.ts";
import type { Receiver, Source } from "../pipeline/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";
import { DecryptionError, type Encryptor } from "../system/index.ts";
import { authorizationUrl } from "./authorization-code.ts";
import type { Platform } from "./platform.ts";

/** The data of a flow that was started here, for its end. */
export interface Flow {
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly endsAt: Date;
  /** The value that the application gave at the start. */
  readonly context: string | undefined;
}

/** A flow has this long, from its start to its redirect. */
export const FLOW_SECONDS = 600;

/** Of the application's value, which travels in a cookie: all cookies of a request must fit into its head. */
export const MAX_CONTEXT_BYTES = 512;
/** Flows of one browser at once. The start of another one ends the oldest. */
const MAX_FLOWS = 5;

const TIME_BYTES = 6;
const HASH_BYTES = 32;
const STATE_BYTES = TIME_BYTES + HASH_BYTES;
/** Of the sealed bytes as base64url. The text is the state's identity, so only the canonical one of its bytes opens. */
const STATE = /^[\w-]{95}$/;

/**
 * A new flow. Its cookie holds a secret and the application's value. Its state holds, encrypted, the time of its end and the hash
 * of the cookie. Verifier (RFC 7636 §4.1) and nonce are derived from both, so nothing is kept here until the flow has ended.
 */
export function newFlow(redirectUri: string, context: string | undefined, now: Date, encryptor: Encryptor) {
  const encoded = context === undefined ? [] : [Buffer.from(context).toString("base64url")];
  const value = [randomSecret(), ...encoded].join(".");
  const plain = Buffer.alloc(STATE_BYTES);
  plain.writeUIntBE(now.getTime() + FLOW_SECONDS * 1_000, 0, TIME_BYTES);
  hash("sha256", value, "buffer").copy(plain, TIME_BYTES);
  const state = Buffer.from(encryptor.encrypt(plain, contextOf(redirectUri))).toString("base64url");
  return { state, flow: flowOf(plain, redirectUri, value), cookie: { name: cookieName(plain), value } };
}

/**
 * The flow that a state was made for.
 * @param cookies the lines of the `Cookie` header
 * @returns "unknown" for a state that was not made here, or has expired
 */
export function openFlow(
  state: string,
  redirectUri: string,
  cookies: readonly string[] | undefined,
  { now, encryptor }: { readonly now: Date; readonly encryptor: Encryptor },
): Flow | "unknown" | "of another browser" {
  const plain = STATE.test(state) ? decryptedState(state, redirectUri, encryptor) : undefined;
  if (plain === undefined) return "unknown";
  const left = plain.readUIntBE(0, TIME_BYTES) - now.getTime();
  // A clock that was set back must not lengthen a flow by more than its own time.
  if (left <= 0 || left > 2 * FLOW_SECONDS * 1_000) return "unknown";
  const value = cookieOf(cookies ?? [], cookieName(plain), COOKIE_VALUE);
  if (value === undefined || !timingSafeEqual(hash("sha256", value, "buffer"), plain.subarray(TIME_BYTES)))
    return "of another browser";
  return flowOf(plain, redirectUri, value);
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
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

function flowOf(plain: Buffer, redirectUri: string, cookie: string): Flow {
  const derived = (purpose: string): string =>
    createHmac("sha256", cookie).update(purpose).update(plain).digest("base64url");
  const endsAt = new Date(plain.readUIntBE(0, TIME_BYTES));
  const [, encoded] = cookie.split(".");
  const context = encoded === undefined ? undefined : fromCanonicalBase64url(encoded)?.toString("utf8");
  return { codeVerifier: derived("code verifier "), nonce: derived("nonce "), redirectUri, endsAt, context };
}

function contextOf(redirectUri: string): string {
  return `OAuth state for ${redirectUri}`;
}

/** `__Host-` keeps other hosts and paths from setting it (RFC 6265bis §4.1.3.2). */
const COOKIE_PREFIX = "__Host-oncehook-flow-";
/** With the time first, so that names sort by age. */
const COOKIE_NAME = new RegExp(`^${COOKIE_PREFIX}[\\da-f]{20}$`);
const COOKIE_VALUE = /^[\w-]{43}(?:\.[\w-]{1,683})?$/;

/** The flows of two tabs have two cookies. */
function cookieName(plain: Buffer): string {
  return `${COOKIE_PREFIX}${plain.toString("hex", 0, 10)}`;
}

/** Names and values in the lines of the `Cookie` header. */
const cookiesIn = (lines: readonly string[]) =>
  lines.flatMap((line) => line.split(";")).map((pair) => pair.trim().split("=", 2));

/** The names of a browser's flow cookies, the oldest first. */
export function flowCookies({ cookie = [] }: DistinctHeaders): string[] {
  const names = cookiesIn(cookie).map(([name = ""]) => name);
  return names.filter((name) => COOKIE_NAME.test(name)).sort();
}

/** The value of a cookie in the lines of the `Cookie` header. Undefined if it is missing, misshapen, or there twice. */
export function cookieOf(lines: readonly string[], name: string, shape: RegExp): string | undefined {
  const found = cookiesIn(lines).filter(([key, value = ""]) => key === name && shape.test(value));
  return found.length === 1 ? (found[0]?.[1] ?? "") : undefined;
}

/** The dependencies of a user's flow, at its start and at its redirect. */
export interface FlowDependencies {
  readonly receiver: Receiver;
  /** The platform, whose signature or token is one of the two ways to authenticate a redirect. */
  readonly source: Source;
  readonly platform: () => Platform;
  readonly redirectUri: string;
  readonly responseMode: "query" | "form_post";
  /** The path at which browsers start a flow; undefined where none can start here. */
  readonly startPath: string | undefined;
  readonly successUrl: string;
  /** Signs what `successUrl` gets; undefined: it gets nothing. */
  readonly successSecret: string | undefined;
  /** For errors that any client that starts a flow can cause. */
  readonly sparing: SparingLog;
}

/**
 * The start of the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636). Its state works once, only in this browser
 * (RFC 9700 §4.7.1). It has a nonce where OpenID Connect is spoken. It writes nothing: any client can start flows.
 * @param context the application's value, of at most MAX_CONTEXT_BYTES
 * @throws Error when the platform cannot be discovered, or has no address to start at
 */
export async function startFlow(headers: DistinctHeaders, context: string | undefined, deps: FlowDependencies) {
  const { redirectUri, responseMode } = deps;
  const { encryptor, clock } = deps.receiver;
  const platform = deps.platform();
  const { authorization_endpoint: endpoint } = await platform.server();
  if (endpoint === undefined) throw new Error("OAUTH_AUTHORIZATION_URL: is not set, so no flow can be started here");
  const { state, flow, cookie } = newFlow(redirectUri, context, clock.now(), encryptor);
  // A form post comes from the platform's own page, and `Lax` would keep the cookie from it.
  const sameSite = responseMode === "form_post" ? "None" : "Lax";
  const line = (name: string, value: string, seconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=${sameSite}`;
  const ended = flowCookies(headers).slice(0, 1 - MAX_FLOWS);
  return {
    location: await authorizationUrl(endpoint, platform, { ...flow, state, responseMode }),
    cookies: [...ended.map((name) => line(name, "", 0)), line(cookie.name, cookie.value, FLOW_SECONDS)],
  };
}

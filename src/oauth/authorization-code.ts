import { setTimeout as sleep } from "node:timers/promises";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import { errorReason, isJsonObject, type Log } from "../domain/index.ts";
import {
  type CodeGrant,
  type ExchangeCode,
  Rejected,
  storableId,
  type TokenResponse,
  userIdOf,
} from "../handlers/index.ts";
import {
  ANY_TOKEN_TYPE,
  isInvalidGrant,
  issuerOf,
  type Platform,
  PlatformError,
  withLoggableErrors,
} from "./platform.ts";

interface ExchangeOptions {
  /** Sent also with the codes of flows that were not started here, where the platform wants it. */
  readonly redirectUri: string | undefined;
  /** Longer than a handler's: an exchange that is cut off may have spent the code. */
  readonly timeLimitMs: number;
  readonly log: Log;
}

/**
 * The code exchange of RFC 6749 §4.1.3 with client authentication in the header (§2.3.1). Flows started here add the
 * PKCE verifier (RFC 7636 §4.5) and an ID token check (OpenID Connect Core §3.1.3.7).
 */
export function createCodeExchange(
  platform: () => Platform,
  { redirectUri, timeLimitMs, log }: ExchangeOptions,
): ExchangeCode {
  return async (grant) => {
    const at = platform();
    const signal = AbortSignal.timeout(timeLimitMs);
    const server = await at.server();
    if (server.token_endpoint === undefined)
      throw new PlatformError(`${server.issuer} names no token_endpoint: check OAUTH_ISSUER`);
    const answer = await withLoggableErrors(async () => {
      const tokens = await requestTokens(at, server, grant, redirectUri, signal);
      const { sub } = oauth.getValidatedIdTokenClaims(tokens) ?? {};
      return { ...tokens, ...(sub === undefined ? {} : { sub }) } as unknown as TokenResponse;
    }).catch((cause: unknown) => {
      if (!isInvalidGrant(cause)) throw cause;
      throw new Rejected("data.code: the platform does not accept this authorization code", { cause });
    });
    // From here on the code is spent: whatever fails, the tokens are returned.
    if (grant.isUserKnown === true || userIdOf(answer) !== undefined) return answer;
    const user_id = await userIdFromUserInfo(at, server, answer, { signal, log });
    return user_id === undefined ? answer : { ...answer, user_id };
  };
}

/** The exchange itself. @throws what the library does; `withLoggableErrors` makes of it what may be logged */
export async function requestTokens(
  { client, clientAuth, options, settings }: Platform,
  server: oauth.AuthorizationServer,
  grant: CodeGrant,
  redirectUri: string | undefined,
  signal: AbortSignal,
): Promise<oauth.TokenEndpointResponse> {
  const grantType = "authorization_code";
  const asked = parametersOf(grant, redirectUri);
  const limits = options(signal);
  const raw = await oauth.genericTokenEndpointRequest(server, client, clientAuth, grantType, asked, limits);
  const isOpenId = speaksOpenId(settings.scope);
  const response = await normalizedTokenResponse(raw, isOpenId);
  const issuer = await issuerIn(response, server);
  const tokens =
    grant.flow === undefined
      ? await oauth.processGenericTokenEndpointResponse(issuer, client, response, ANY_TOKEN_TYPE)
      : await oauth.processAuthorizationCodeResponse(issuer, client, response, {
          expectedNonce: isOpenId ? grant.flow.nonce : oauth.expectNoNonce,
          requireIdToken: isOpenId,
          ...ANY_TOKEN_TYPE,
        });
  const azp = oauth.getValidatedIdTokenClaims(tokens)?.azp;
  // OpenID Connect Core §3.1.3.7, rule 5, which the library asks of several audiences only.
  if (azp !== undefined && azp !== settings.clientId) throw new Error("azp of the ID token is another client");
  return tokens;
}

/** The server by the name that the ID token must have: the library compares it with `iss`. */
async function issuerIn(response: Response, server: oauth.AuthorizationServer) {
  // Most issuers are the same for every tenant.
  if (issuerOf(server, "") === server.issuer) return server;
  const answer = parse(await response.clone().text(), () => false);
  if (!isJsonObject(answer) || typeof answer.id_token !== "string") return server;
  return { ...server, issuer: issuerOf(server, decodeJwt(answer.id_token).tid) };
}

function speaksOpenId(scope: string | null): boolean {
  return scope?.split(" ").includes("openid") ?? false;
}

function parametersOf({ code, flow }: CodeGrant, redirectUri: string | undefined): Record<string, string> {
  if (flow !== undefined) return { code, redirect_uri: flow.redirect_uri, code_verifier: flow.code_verifier };
  return redirectUri === undefined ? { code } : { code, redirect_uri: redirectUri };
}

interface AuthorizationParameters extends Readonly<Record<"redirectUri" | "state" | "codeVerifier" | "nonce", string>> {
  readonly responseMode: "query" | "form_post";
}

/**
 * The address at which a browser begins the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636). It has a
 * nonce where OpenID Connect is spoken.
 */
export async function authorizationUrl(
  endpoint: string,
  { settings }: Platform,
  { redirectUri, state, codeVerifier, nonce, responseMode }: AuthorizationParameters,
): Promise<string> {
  const url = new URL(endpoint);
  for (const [name, value] of new URLSearchParams(settings.authorizationParameters))
    url.searchParams.append(name, value);
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    ...(responseMode === "form_post" ? { response_mode: "form_post" } : {}),
    ...(settings.scope === null ? {} : { scope: settings.scope }),
    ...(speaksOpenId(settings.scope) ? { nonce } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

const ID_NAMES: ReadonlySet<string> = new Set(["user_id", "sub"]);

/**
 * A token endpoint's answer as RFC 6749 §5 has it, also where platforms depart from it. An error may have status 200. A
 * user's id may be a number, larger than JavaScript counts, and is kept digit by digit. Some send no `token_type`,
 * scopes as a list, empty fields, a lifetime that is no number, another content type. The code is spent, and its tokens
 * must not be lost for that.
 * @param keepIdToken false where none was asked for, so that none is there to be checked
 */
export async function normalizedTokenResponse(response: Response, keepIdToken: boolean): Promise<Response> {
  const text = await response.text();
  const answer = parse(text, (name, digits) => ID_NAMES.has(name) && /^\d+$/.test(digits));
  const headers = new Headers(response.headers);
  if (!isJsonObject(answer)) return new Response(text, { status: response.status, headers });
  if (!keepIdToken) delete answer.id_token;
  const isError = response.status === 200 && typeof answer.error === "string";
  // GitHub's name for RFC 6749's `invalid_grant`.
  if (answer.error === "bad_verification_code") answer.error = "invalid_grant";
  const status = isError ? 400 : response.status;
  if (status === 200) {
    addNestedTokens(answer);
    for (const [name, value] of Object.entries(answer)) if (value === null || value === "") delete answer[name];
    answer.token_type ??= "Bearer";
    if (Array.isArray(answer.scope)) answer.scope = answer.scope.join(" ");
    if (!isLifetime(answer.expires_in)) delete answer.expires_in;
  }
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(answer), { status, headers });
}

/**
 * Slack's user token is nested, and the only one where no bot was asked for. The user's id stands beside it.
 * Source: https://docs.slack.dev/reference/methods/oauth.v2.access
 */
function addNestedTokens(answer: Record<string, unknown>): void {
  const { authed_user: nested } = answer;
  if (!isJsonObject(nested)) return;
  const { id, ...tokens } = nested;
  answer.user_id ??= id;
  if (typeof answer.access_token !== "string") Object.assign(answer, tokens);
}

/** The values of `expires_in` that the library accepts, texts included; it throws for any other. */
function isLifetime(value: unknown): boolean {
  const seconds = typeof value === "string" ? Number.parseFloat(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0;
}

/** The code is spent meanwhile, and a browser waits. */
const USER_INFO_LIMIT_MS = 3_000;
const PAUSES_MS = [250, 750];
/** OpenID Connect's name first; a login can pass to another person, so that it is the last one. */
const ID_FIELDS = ["sub", "id", "user_id", "login"];

/**
 * Asks `OAUTH_USERINFO_URL`, or the endpoint that a discovery names, to whom tokens belong, up to three times within three seconds.
 * @returns undefined where there is no such endpoint, and where it names no user: the tokens are kept all the same
 */
async function userIdFromUserInfo(
  at: Platform,
  server: oauth.AuthorizationServer,
  tokens: TokenResponse,
  given: { readonly signal: AbortSignal; readonly log: Log },
): Promise<string | undefined> {
  const { url = server.userinfo_endpoint, idField } = at.settings.userInfo ?? {};
  if (url === undefined) return undefined;
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(USER_INFO_LIMIT_MS)]);
  const fields = idField === undefined ? ID_FIELDS : [idField];
  try {
    const answer = await ask(at, new URL(url), tokens.access_token, signal);
    const id = idIn(answer, fields);
    if (id !== undefined) return id;
    given.log.warn({ fields }, "the userinfo endpoint answered without a user's id; check OAUTH_USERINFO_ID");
  } catch (error) {
    // The library's errors hold whole answers; their own words say what was wrong.
    given.log.warn({ why: errorReason(error) }, "the userinfo endpoint did not say whose tokens these are");
  }
  return undefined;
}

/** @throws Error when it does not answer with JSON in time */
async function ask(at: Platform, url: URL, accessToken: string, signal: AbortSignal): Promise<unknown> {
  const headers = new Headers({ accept: "application/json" });
  const options = at.options(signal);
  for (let asked = 0; ; asked += 1) {
    let error: unknown;
    let isTransient: boolean;
    try {
      const response = await oauth.protectedResourceRequest(accessToken, "GET", url, headers, null, options);
      if (response.ok) return parse(await response.text(), (_name, digits) => /^[1-9]\d*$/.test(digits));
      error = new Error(`it answered ${response.status}`);
      isTransient = response.status >= 500 || response.status === 429;
    } catch (cause) {
      error = cause;
      isTransient = !(cause instanceof oauth.WWWAuthenticateChallengeError);
    }
    const pause = PAUSES_MS[asked];
    if (!isTransient || pause === undefined || signal.aborted) throw error;
    await sleep(pause, undefined, { signal });
  }
}

/**
 * Undefined for what is no JSON: the error of JSON.parse shows a part of the text.
 * @param isId whether a number is an id, kept digit by digit: it may be larger than JavaScript counts
 */
function parse(text: string, isId: (name: string, digits: string) => boolean): unknown {
  // JSON.parse tells how a number was written, which TypeScript does not know yet.
  const reviver = (name: string, value: unknown, { source = "" }: { readonly source?: string } = {}) =>
    typeof value === "number" && isId(name, source) ? source : value;
  try {
    return JSON.parse(text, reviver);
  } catch {
    return undefined;
  }
}

function idIn(answer: unknown, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = field
      .split(".")
      .reduce((part: unknown, name) => (isJsonObject(part) ? part[name] : undefined), answer);
    const id = storableId(value);
    if (id !== undefined) return id;
  }
  return undefined;
}

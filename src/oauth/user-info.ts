import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import { isJsonObject, type Log } from "../domain/index.ts";
import { storableId, type TokenResponse } from "../handlers/index.ts";
import type { Platform } from "./platform.ts";

/** The code is spent meanwhile, and a browser waits. */
const TIME_LIMIT_MS = 3_000;
const PAUSES_MS = [250, 750];
/** OpenID Connect's name first; a login can pass to another person, so that it is the last one. */
const ID_FIELDS = ["sub", "id", "user_id", "login"];
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Asks `OAUTH_USERINFO_URL`, or the endpoint that a discovery names, to whom tokens belong, up to three times within three seconds.
 * @returns undefined where there is no such endpoint, and where it names no user: the tokens are kept all the same
 */
export async function userIdFromUserInfo(
  at: Platform,
  server: oauth.AuthorizationServer,
  tokens: TokenResponse,
  given: { readonly signal: AbortSignal; readonly log: Log },
): Promise<string | undefined> {
  const { url = server.userinfo_endpoint, idField } = at.settings.userInfo ?? {};
  if (url === undefined) return undefined;
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(TIME_LIMIT_MS)]);
  const fields = idField === undefined ? ID_FIELDS : [idField];
  try {
    const answer = await ask(at, new URL(url), tokens.access_token, signal);
    const id = idIn(answer, fields);
    if (id !== undefined) return id;
    given.log.warn({ fields }, "the userinfo endpoint answered without a user's id; check OAUTH_USERINFO_ID");
  } catch (error) {
    // The library's errors hold whole answers; their own words say what was wrong.
    const why = error instanceof Error ? error.message : String(error);
    given.log.warn({ why }, "the userinfo endpoint did not say whose tokens these are");
  }
  return undefined;
}

/** @throws Error when it does not answer with JSON in time */
async function ask(at: Platform, url: URL, accessToken: string, signal: AbortSignal): Promise<unknown> {
  for (let asked = 0; ; asked += 1) {
    const pause = PAUSES_MS[asked];
    try {
      const headers = new Headers({ accept: "application/json" });
      const response = await oauth.protectedResourceRequest(accessToken, "GET", url, headers, null, {
        ...at.options(signal),
      });
      if (response.ok) return parse(await response.text());
      throw new UserInfoError(response.status);
    } catch (error) {
      const mayPass =
        error instanceof UserInfoError
          ? error.isTransient
          : !(error instanceof oauth.WWWAuthenticateChallengeError);
      if (!mayPass || pause === undefined || signal.aborted) throw error;
    }
    await sleep(pause, undefined, { signal });
  }
}

class UserInfoError extends Error {
  override readonly name = "Unanswered";
  readonly isTransient: boolean;

  constructor(status: number) {
    super(`it answered ${status}`);
    this.isTransient = status >= SERVER_ERROR || status === TOO_MANY_REQUESTS;
  }
}

/** The error of JSON.parse shows a part of the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, digits);
  } catch {
    return undefined;
  }
}

/** An id in numbers may be larger than JavaScript counts. */
function digits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? "";
  return typeof value === "number" && /^[1-9]\d*$/.test(source) ? source : value;
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

import { randomBytes } from "node:crypto";
import { errorReason, isJsonObject, parseJson, type Version } from "../../domain/index.ts";
import { type ReceivedResponse, type SendRequestOptions, sendRequest } from "../../system/index.ts";
import { type Authentication, authenticHeaders, unsignedHeaders } from "./authentic-headers.ts";

export interface ComposedCallback {
  /** Sent as it is: it need not be an event, nor JSON. */
  readonly body: string;
  readonly version?: Version;
  /** `wrong`: signed with a secret that is not the platform's; `none`: not at all. */
  readonly sign: "right" | "wrong" | "none";
}

export interface OwnListener {
  readonly origin: string;
  /** The certificate that it serves, where it speaks TLS; its name is the public one. */
  readonly certificate: Buffer | undefined;
  readonly timeLimitMs: number;
}

/** The listener, or the sandbox platform, did not answer. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";
}

const MAX_BYTES = 1_048_576;
const HEADER_VALUE = /^[\x21-\x7e]{1,128}$/;

/**
 * Sends a callback to the public listener, over HTTP as a platform would.
 * @param path with the base path
 * @throws CannotSignError, NoResponseError
 */
export async function sendEvent(
  composed: ComposedCallback,
  path: string,
  authentication: Authentication,
  listener: OwnListener,
) {
  const { body, version } = composed;
  const apiVersion: Record<string, string> = version === undefined ? {} : { "x-api-version": version };
  const headers = { ...(await headersFor(composed, authentication)), ...apiVersion };
  return sendSigned({ path, headers, body }, listener);
}

interface SignedCallback {
  /** With the base path. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @throws NoResponseError */
export async function sendSigned(callback: SignedCallback, { origin, certificate, timeLimitMs }: OwnListener) {
  const { path, headers, body } = callback;
  const url = `${origin}${path}`;
  const startedAt = performance.now();
  const sending = { method: "POST", headers, body, timeLimitMs, certificate } as const;
  const answer = await sendOrThrow(new URL(url), { ...sending, maxBytes: MAX_BYTES });
  return { ...answer, url, requestHeaders: headers, durationMs: performance.now() - startedAt };
}

export async function sendOrThrow(url: URL, sending: SendRequestOptions): Promise<ReceivedResponse> {
  try {
    return await sendRequest(url, sending);
  } catch (cause) {
    throw new NoResponseError(`${url.origin} did not answer: ${errorReason(cause)}`, { cause });
  }
}

async function headersFor({ body, sign }: ComposedCallback, authentication: Authentication) {
  const type = eventTypeIn(body);
  if (sign === "none") return unsignedHeaders(type);
  return authenticHeaders(sign === "right" ? authentication : wrongSecrets(authentication), body, type);
}

/** The event type that the body names, as far as a header can say it. */
function eventTypeIn(body: string): string | undefined {
  const event = parseJson(body);
  const type = isJsonObject(event) ? event.event_type : undefined;
  return typeof type === "string" && HEADER_VALUE.test(type) ? type : undefined;
}

function wrongSecrets({ methods, signing, token, jwt }: Authentication): Authentication {
  const secrets = [randomBytes(32).toString("base64url")];
  return {
    methods,
    signing: { ...signing, secrets },
    diagnoseSecretsFile: null,
    token: { ...token, tokens: secrets },
    jwt: jwt === null ? null : { ...jwt, algorithm: "HS256", keys: { from: "secrets", secrets } },
  };
}

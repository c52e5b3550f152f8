import { type Failed, failed, type Outcome, type Refused, type Rejected, tenantSource } from "../domain/index.ts";
import { type DistinctHeaders, type SignedRequest, type SignedText, sha256Hex } from "../sources/index.ts";
import { type NewFailure, sealOriginal } from "../store/index.ts";
import { originalOf } from "./original-of.ts";
import type { Callback, CallbackResult, Delivery, Receiver } from "./receiver.ts";
import { failureContext } from "./store-failure.ts";

/** Its type is empty where the contract could not read it: `body` is a kept request then. */
type RejectedEvent = Pick<NewFailure, "version" | "eventType" | "bodySha256" | "firstFailedAt"> &
  Pick<Delivery, "key" | "original"> & { readonly body: Uint8Array };

/**
 * Keeps an authentic event to which its schema, its handler or its source's contract said no. It stays until it is
 * replayed, delivered again or discarded. A type that has no handler is no rejection: SPEC 4.1 refuses it.
 * @param invalid of its source; undefined where nothing is kept
 * @returns its outcome; a failure that makes the platform send it again where it could not be kept
 */
async function keepRejected(
  { key, body, original: request, ...event }: RejectedEvent,
  refusal: Refused,
  invalid: "accept" | "refuse" | undefined,
  { store, encryptor, clock, log, describeError }: Receiver,
): Promise<Rejected | Refused | Failed> {
  const { code, message, detail } = refusal;
  if (invalid === undefined || code === "event_type_unknown") return refusal;
  const encryptedBody = encryptor.encrypt(body, failureContext(key));
  const rejection = { code, error: describeError(detail ?? message), nextAttemptAt: null, isRejected: true };
  const original = sealOriginal({ ...key, ...event }, request);
  try {
    await store.failures.record({ ...key, ...event, encryptedBody, ...rejection, original }, clock.now());
  } catch (error) {
    log.error({ err: error, event_id: key.eventId }, "a rejected event could not be kept");
    return failed("store_unavailable", error);
  }
  const rejected = { kind: "rejected", code, message, isAccepted: invalid === "accept" } as const;
  return detail === undefined ? rejected : { ...rejected, detail };
}

/** An event that was read, but for its type where that is empty. */
export function keepRefused(
  { key, version, content, contract, callback, original, rerun }: Delivery,
  eventType: string,
  refusal: Refused,
  receiver: Receiver,
): Promise<Outcome> {
  const { bodySha256 } = content;
  const body = eventType === "" && callback !== undefined ? keptRequest(callback) : content.body;
  const event = { key, version, eventType, body, bodySha256, original, firstFailedAt: rerun?.keptAt };
  return keepRejected(event, refusal, contract.invalid, receiver);
}

/** An authentic callback that its contract cannot read, or one event of it, is kept as it came. */
export async function keepUnread(
  callback: Callback,
  refusal: Refused,
  signedText: SignedText | undefined,
  receiver: Receiver,
): Promise<CallbackResult> {
  const { version, source } = callback;
  const { contract } = source;
  const id = contract.identify({ ...callback, headers: keptHeaders(callback) }, signedText);
  const key = { source: keySourceOf(callback), eventId: `sha256:${id}` };
  const body = keptRequest(callback, signedText);
  const original = originalOf(callback, callback.body);
  const event = { key, version, eventType: "", body, bodySha256: sha256Hex(callback.body), original };
  const outcome = await keepRejected(event, refusal, contract.invalid, receiver);
  return { outcome, ...key, isVerified: true };
}

/** The source of a callback's keys, with its tenant. */
export function keySourceOf({ source: { name }, params }: Pick<Callback, "source" | "params">): string {
  return params === undefined ? name : tenantSource(name, params);
}

/** In the place of the body in a signed text, which is a function of it. */
export const BODY = "\u0000body\u0000";

export interface KeptRequest extends Pick<SignedRequest, "method" | "target" | "params" | "headers" | "deliveryId"> {
  readonly body: string;
  /** Without the timestamp, and with it. */
  readonly signed?: readonly string[];
}

/** The parts that a mended contract needs to read it again, without those that prove it. */
export function keptRequest(callback: Callback, signedText?: SignedText): Buffer {
  const { method, target, params, body, deliveryId } = callback;
  const request: KeptRequest = {
    method,
    target,
    headers: keptHeaders(callback),
    body: Buffer.from(body).toString("base64"),
    ...(params !== undefined && { params }),
    ...(deliveryId !== undefined && { deliveryId }),
    ...(signedText !== undefined && { signed: [signedText(BODY, false), signedText(BODY, true)] }),
  };
  return Buffer.from(JSON.stringify(request));
}

/** They may prove a callback to what stands before this process. */
const NEVER_KEPT = ["authorization", "proxy-authorization", "cookie"];

/** Node.js bounds the headers of a request: 16 KiB in all. */
function keptHeaders({ headers, source }: Pick<Callback, "headers" | "source">): DistinctHeaders {
  const { credentialHeaders, contract } = source;
  const proofs = [...NEVER_KEPT, ...(credentialHeaders ?? [])];
  const names = credentialHeaders === undefined ? contract.headers : Object.keys(headers);
  const kept = names.filter((name) => !proofs.includes(name));
  return Object.fromEntries(kept.map((name) => [name, headers[name]]));
}

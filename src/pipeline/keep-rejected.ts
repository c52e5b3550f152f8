import {
  type EventKey,
  type Failed,
  failed,
  type Outcome,
  type Refused,
  type Rejected,
  tenantSource,
} from "../domain/index.ts";
import { type SignedRequest, type SignedText, sha256Hex } from "../sources/index.ts";
import type { Callback, Delivery, Receiver } from "./receiver.ts";
import { failureContext } from "./store-failure.ts";

export interface RejectedEvent extends Pick<Delivery, "key" | "version"> {
  /** Empty where the contract could not read it: `body` is a kept request then. */
  readonly eventType: string;
  readonly body: Uint8Array;
  readonly bodySha256: string;
}

/**
 * Keeps an authentic event to which its schema, its handler or the contract of its source said no, until it is replayed,
 * delivered again or discarded. A type that has no handler is no rejection: SPEC 4.1 refuses it.
 * @param invalid of its source; undefined where nothing is kept
 * @returns its outcome; a failure that makes the platform send it again where it could not be kept
 */
export async function keepRejected(
  { key, version, eventType, body, bodySha256 }: RejectedEvent,
  refusal: Refused,
  invalid: "accept" | "refuse" | undefined,
  { store, encryptor, clock, log, describe }: Receiver,
): Promise<Rejected | Refused | Failed> {
  const { code, message, detail } = refusal;
  if (invalid === undefined || code === "event_type_unknown") return refusal;
  const encryptedBody = encryptor.encrypt(body, failureContext(key));
  const event = { ...key, version, eventType, encryptedBody, bodySha256 };
  const rejection = { code, error: describe(detail ?? message), nextAttemptAt: null, isRejected: true };
  try {
    await store.failures.record({ ...event, ...rejection }, clock.now());
  } catch (error) {
    log.error({ err: error, event_id: key.eventId }, "a rejected event could not be kept");
    return failed("store_unavailable", error);
  }
  return {
    kind: "rejected",
    code,
    message,
    ...(detail !== undefined && { detail }),
    isAccepted: invalid === "accept",
  };
}

/** An event that was read, but for its type where that is empty. */
export function keepRefused(
  { key, version, content, contract, callback }: Delivery,
  eventType: string,
  refusal: Refused,
  receiver: Receiver,
): Promise<Outcome> {
  const { bodySha256 } = content;
  const body = eventType === "" && callback !== undefined ? keptRequest(callback) : content.body;
  return keepRejected({ key, version, eventType, body, bodySha256 }, refusal, contract.invalid, receiver);
}

/** The source of a callback's keys, with its tenant. */
export function keySourceOf({ source: { name }, params }: Pick<Callback, "source" | "params">): string {
  return params === undefined ? name : tenantSource(name, params);
}

/** A callback that its contract cannot read has no id: its key is the hash of what is kept of it. */
export function keyOfUnread(callback: Callback): EventKey {
  return { source: keySourceOf(callback), eventId: `sha256:${sha256Hex(keptRequest(callback))}` };
}

/** In the place of the body in a signed text, which is a function of it. */
export const BODY = "\u0000body\u0000";

export interface KeptRequest extends Pick<SignedRequest, "method" | "target" | "params" | "headers"> {
  readonly body: string;
  /** Without the timestamp, and with it. */
  readonly signed?: readonly string[];
}

/** What is needed to read it again, without what proves it. */
export function keptRequest(callback: Callback, signedText?: SignedText): Buffer {
  const { method, target, params, headers, body, source } = callback;
  const { credentialHeaders = [], contract } = source;
  const names = contract.headers.filter((name) => !credentialHeaders.includes(name));
  const request: KeptRequest = {
    method,
    target,
    headers: Object.fromEntries(names.map((name) => [name, headers[name]])),
    body: Buffer.from(body).toString("base64"),
    ...(params !== undefined && { params }),
    ...(signedText !== undefined && { signed: [signedText(BODY, false), signedText(BODY, true)] }),
  };
  return Buffer.from(JSON.stringify(request));
}

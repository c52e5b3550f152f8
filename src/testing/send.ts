import { randomBytes, randomUUID } from "node:crypto";
import type { ConfiguredSource } from "../configured/index.ts";
import type { Clock, Version } from "../domain/index.ts";
import { withHandlersFrames } from "../store/index.ts";
import type { LogLine } from "./captured-log.ts";
import { type CallbackResponse, postCallback, toCallbackResponse } from "./post-callback.ts";
import { signCallback, sourceNamed, type TestCallback } from "./signed-callback.ts";

/** An event as a test gives it; what is left out has a default. */
export interface TestEvent {
  readonly event_type: string;
  readonly data?: object;
  readonly event_id?: string;
  /** Seconds since the Unix epoch; the clock's time when left out. */
  readonly timestamp?: number;
}

export interface SendOptions {
  /** Sent as `X-API-Version`. */
  readonly version?: Version;
  /** These win over the signature and the others that are made here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent, and signed, instead of the event: for bodies that are no event. */
  readonly raw?: string | Uint8Array;
}

export interface Sent<Event> extends CallbackResponse {
  /** The event as it was sent: send it again for a redelivery. */
  readonly event: Required<Event>;
  /**
   * The error behind a 5xx response, masked, with the handler's lines of its stack; undefined for other responses. The
   * response itself says no more than "internal error".
   */
  readonly failure: string | undefined;
}

export type SentResponse = Sent<TestEvent>;
export type SentCallback = Sent<TestCallback>;

export interface Send {
  (event: TestEvent, sending?: SendOptions): Promise<SentResponse>;
  (callback: TestCallback, sending?: SendOptions): Promise<SentCallback>;
}

interface Sender {
  /** Of the platform. */
  readonly url: string;
  /** With the base path. */
  readonly baseUrl: string;
  /** Protocol and host that platforms have registered. */
  readonly origin: string;
  readonly sources: readonly ConfiguredSource[];
  readonly signingSecret: string;
  readonly clock: Clock;
  readonly lines: readonly LogLine[];
  readonly printFailures: boolean;
}

export function createSend(sender: Sender) {
  const { url, signingSecret, clock } = sender;
  const seconds = () => Math.floor(clock.now().getTime() / 1000);

  async function sendEvent(secret: string, given: TestEvent, sending: SendOptions = {}): Promise<SentResponse> {
    const event = { event_id: `evt_${randomUUID()}`, timestamp: seconds(), data: {}, ...given };
    const { raw = JSON.stringify(event) } = sending;
    const headers = { "x-timestamp": String(event.timestamp), ...headersOf(sending) };
    const callback = { body: Buffer.from(raw), type: event.event_type, headers };
    const answer = await postCallback(url, secret, callback);
    return { ...answer, event, failure: reportFailure(sender, event.event_type, answer) };
  }

  async function sendCallback(given: TestCallback, sending: SendOptions = {}, isForged = false): Promise<SentCallback> {
    const source = sourceNamed(sender.sources, given.source);
    const { baseUrl, origin } = sender;
    const raw = sending.raw === undefined ? undefined : Buffer.from(sending.raw);
    const signing = { source, baseUrl, origin, isForged, now: clock.now(), headers: headersOf(sending), raw };
    const { event, ...sent } = signCallback(given, signing);
    const at = new URL(sent.path, baseUrl);
    const answer = await toCallbackResponse(await fetch(at, sent));
    return { ...answer, event, failure: reportFailure(sender, event.type, answer) };
  }

  const send = (given: TestEvent | TestCallback, sending?: SendOptions) =>
    "source" in given ? sendCallback(given, sending) : sendEvent(signingSecret, given, sending);
  const sendForged = (given: TestEvent | TestCallback, sending?: SendOptions) =>
    "source" in given
      ? sendCallback(given, sending, true)
      : sendEvent(randomBytes(32).toString("base64url"), given, sending);
  return { send: send as Send, sendForged: sendForged as Send };
}

function headersOf({ version, headers }: SendOptions): Record<string, string> {
  return { ...(version === undefined ? {} : { "x-api-version": version }), ...headers };
}

function reportFailure(sender: Sender, type: string, { status, headers }: CallbackResponse): string | undefined {
  if (status < 500) return undefined;
  const requestId = headers.get("x-request-id");
  // The line is written in the turn of the response.
  const line = sender.lines.findLast(({ request_id, error }) => request_id === requestId && error !== undefined);
  if (line === undefined) return undefined;
  const failure = withHandlersFrames(String(line.error));
  if (sender.printFailures) process.stderr.write(`${type} returned ${status}: ${failure}\n`);
  return failure;
}

import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, createSparingLog, DAY_MS, type Log } from "../../domain/index.ts";
import { createRowBuffer } from "../../observability/index.ts";
import type { CapturedRequest, Captures, NewCapturedRequest } from "../../store/index.ts";
import type { Encryptor } from "../../system/index.ts";
import type { CaptureLine } from "../listen/index.ts";

export interface CaptureBufferOptions {
  readonly store: Captures;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

export type CaptureBuffer = ReturnType<typeof createCaptureBuffer>;

const KEPT = { rows: 50_000, bytes: 256 * 1024 * 1024 };
/** A flood between two rounds of the retention job must not outgrow what is kept by much. */
const SWEEP_AFTER = { rows: 5_000, bytes: 64 * 1024 * 1024 };
const MAX_WAITING = 10_000;

/** Keeps every callback as it came, outside production, for the laptop at which `oncehook listen` runs. */
export function createCaptureBuffer({ store, encryptor, clock, log }: CaptureBufferOptions) {
  const ending = new AbortController();
  const ended: AbortSignal = ending.signal;
  const since = { rows: 0, bytes: 0 };
  let sweeping: Promise<void> | undefined;
  const sparing = createSparingLog(log, clock);
  const warn = (message: string, fields: { readonly err?: unknown } = {}) => sparing("warn", { fields, message });
  const options = { store, encryptor, clock, log };
  const buffer = createRowBuffer<RawCallback>({
    append,
    maxRows: MAX_WAITING,
    lengthOf: ({ body, rawHeaders, url }) => body.length + url.length + rawHeaders.join("").length,
    onError: (err) => warn("callbacks could not be kept for listeners; that is tried again", { err }),
  });

  async function append(requests: readonly RawCallback[]): Promise<void> {
    const encrypted = requests.map((request) => encryptCapture(request, encryptor));
    await store.append(encrypted);
    since.rows += encrypted.length;
    for (const one of encrypted) since.bytes += one.encrypted.length;
    if (since.rows > SWEEP_AFTER.rows || since.bytes > SWEEP_AFTER.bytes) void sweep();
  }

  /** Deletes what is older or more than is kept; never rejects. */
  function sweep(): Promise<void> {
    since.rows = 0;
    since.bytes = 0;
    sweeping ??= store
      .sweep({ ...KEPT, since: new Date(clock.now().getTime() - DAY_MS) })
      .then(
        () => {},
        (error: unknown) => log.warn({ err: error }, "what was kept for listeners could not be swept"),
      )
      .finally(() => {
        sweeping = undefined;
      });
    return sweeping;
  }

  return {
    /** Returns at once; it is stored with others shortly after. */
    keep(request: RawCallback): void {
      if (!buffer.add(request)) warn("callbacks are not kept for listeners: too many wait for the database");
    },
    /** Undefined where the text is no position. */
    parsePosition(text: string): CapturePosition | undefined {
      const [, log, id] = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(text) ?? [];
      return log === undefined ? undefined : { log, id: Number(id) };
    },
    follow: (beginning: StartPosition, over: AbortSignal) => follow(beginning, options, over),
    sweep,
    end: () => ending.abort(),
    ended,
    async close(): Promise<void> {
      ending.abort();
      const rows = await buffer.close();
      await sweeping;
      if (rows > 0) log.error({ rows }, "callbacks are lost for listeners: the database did not take them");
    },
  };
}

/** The start of a reader: after a position, some seconds ago, or now. */
export type StartPosition =
  | { readonly from: "position"; readonly position: CapturePosition }
  | { readonly from: "since"; readonly seconds: number }
  | { readonly from: "now" };

const LOOK_EVERY_MS = 200;
const HEARTBEAT_MS = 5_000;
const AT_ONCE = { rows: 200, bytes: 4 * 1024 * 1024 };

/** Kept requests in their order, then new ones, until the signal. @throws the database's errors */
async function* follow(
  beginning: StartPosition,
  deps: CaptureBufferOptions,
  signal: AbortSignal,
): AsyncGenerator<CaptureLine, void, void> {
  const { store } = deps;
  const { hello, position } = await begin(beginning, deps);
  const { log } = position;
  let { id } = position;
  yield hello;
  let saidSweptTo = 0;
  let spokenAt = performance.now();
  while (!signal.aborted) {
    const requests = await store.after(id, AT_ONCE);
    const { deletedTo } = await store.extent();
    if (deletedTo > Math.max(id, saidSweptTo)) {
      saidSweptTo = deletedTo;
      yield { line: "swept" };
    }
    for (const request of requests) {
      id = request.id;
      yield lineOf(request, formatPosition({ log, id }), deps);
    }
    if (requests.length > 0) spokenAt = performance.now();
    else if (performance.now() - spokenAt >= HEARTBEAT_MS) {
      spokenAt = performance.now();
      yield { line: "heartbeat" };
    } else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function begin(beginning: StartPosition, { store, clock }: CaptureBufferOptions) {
  const { log, newestId } = await store.extent();
  const startAfter = (id: number, database: "same" | "another" | "older" = "same") => ({
    position: { log, id },
    hello: { line: "hello", at: formatPosition({ log, id }), database } as const,
  });
  if (beginning.from === "now") return startAfter(newestId);
  if (beginning.from === "since")
    return startAfter(await store.idBefore(new Date(clock.now().getTime() - beginning.seconds * 1_000)));
  const { position } = beginning;
  // All requests that it keeps are new to this reader.
  if (position.log !== log) return startAfter(0, "another");
  // The database was put back to an earlier state: its rows were seen, and its next ids mean other requests.
  return position.id > newestId ? startAfter(newestId, "older") : startAfter(position.id);
}

function lineOf(request: CapturedRequest, position: string, { encryptor, log }: CaptureBufferOptions): CaptureLine {
  try {
    const { receivedAt, method, url, rawHeaders, body } = decryptCapture(request, encryptor);
    return {
      line: "request",
      at: position,
      received_at: receivedAt.toISOString(),
      method,
      url,
      headers: rawHeaders,
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64"),
    };
  } catch (error) {
    log.warn({ err: error, request_id: request.requestId }, "a request that was kept cannot be read");
    return { line: "unreadable", at: position };
  }
}

export interface CapturePosition {
  readonly log: string;
  readonly id: number;
}

function formatPosition({ log, id }: CapturePosition): string {
  return `${log}.${id}`;
}

export interface RawCallback {
  readonly requestId: string;
  readonly receivedAt: Date;
  readonly method: string;
  /** The request target as it was sent: the path, and the query where there is one. */
  readonly url: string;
  /** Names and values in turn, as they were sent, repeated ones too; each character is one byte. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

const LINE_FEED = 10;

/** One JSON line, and then the body's bytes as they are. */
function encryptCapture(request: RawCallback, encryptor: Encryptor): NewCapturedRequest {
  const { requestId, receivedAt, method, url, rawHeaders, body } = request;
  const head = Buffer.from(`${JSON.stringify({ method, url, rawHeaders })}\n`);
  const encrypted = encryptor.encrypt(Buffer.concat([head, body]), contextOf(requestId));
  return { requestId, receivedAt, encrypted };
}

/** @throws DecryptionError; EncryptionKeyMissing where the key that encrypted it is not configured any more */
export function decryptCapture(
  { requestId, receivedAt, encrypted }: CapturedRequest,
  encryptor: Pick<Encryptor, "decrypt">,
) {
  const plain = Buffer.from(encryptor.decrypt(encrypted, contextOf(requestId)));
  const end = plain.indexOf(LINE_FEED);
  const head: Pick<RawCallback, "method" | "url" | "rawHeaders"> = JSON.parse(plain.toString("utf8", 0, end));
  return { ...head, requestId, receivedAt: new Date(receivedAt), body: plain.subarray(end + 1) };
}

function contextOf(requestId: string): string {
  return `capture/${requestId}`;
}

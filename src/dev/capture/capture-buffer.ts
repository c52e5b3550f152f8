import type { Clock, Log } from "../../domain/index.ts";
import type { Encryptor } from "../../encryption/index.ts";
import { createMinuteCounter, createRowBuffer } from "../../observability/index.ts";
import type { Captures } from "../../store/index.ts";
import { encryptCapture, parsePosition, type RawCallback } from "./captured-request.ts";
import { follow, type StartPosition } from "./follow.ts";

export interface CaptureBufferOptions {
  readonly store: Captures;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

export type CaptureBuffer = ReturnType<typeof createCaptureBuffer>;

const DAY_MS = 86_400_000;
const KEPT = { rows: 50_000, bytes: 256 * 1024 * 1024 };
/** A flood between two rounds of the retention job must not outgrow what is kept by much. */
const SWEEP_AFTER = { rows: 5_000, bytes: 64 * 1024 * 1024 };
const MAX_WAITING = 10_000;

/** Keeps every callback as it came, outside production, for the laptop at which `oncehook listen` runs. */
export function createCaptureBuffer({ store, encryptor, clock, log }: CaptureBufferOptions) {
  const ending = new AbortController();
  const since = { rows: 0, bytes: 0 };
  let sweeping: Promise<void> | undefined;
  let lastError: unknown;
  const lost = createMinuteCounter((count) =>
    log.warn({ left_out: count }, "callbacks are not kept for listeners: too many wait for the database"),
  );
  const failing = createMinuteCounter((attempts) =>
    log.warn({ err: lastError, attempts }, "callbacks could not be kept for listeners; that is tried again"),
  );
  const buffer = createRowBuffer<RawCallback>({
    append,
    maxRows: MAX_WAITING,
    lengthOf: ({ body, rawHeaders, url }) => body.length + url.length + rawHeaders.join("").length,
    onError(error) {
      lastError = error;
      failing.add();
    },
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
      if (!buffer.add(request)) lost.add();
    },
    parsePosition,
    /** What was kept and what is kept from now on, until the signal. @throws what the database throws */
    follow: (beginning: StartPosition, over: AbortSignal) =>
      follow(beginning, { store, encryptor, clock, log }, over),
    sweep,
    /** Says that all that follow should end. */
    end: () => ending.abort(),
    ended: ending.signal,
    /** Stores what is still on its way. */
    async close(): Promise<void> {
      ending.abort();
      const rows = await buffer.close();
      await sweeping;
      lost.close();
      failing.close();
      if (rows > 0) log.error({ rows }, "callbacks are lost for listeners: the database did not take them");
    },
  };
}

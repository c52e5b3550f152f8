import type { CallbackView, GapView, TallyView } from "../admin/index.ts";
import { AdminError } from "./request.ts";

export type LiveEvent =
  | { readonly event: "callback"; readonly callback: CallbackView }
  /** Every two seconds; the first one says that the stream is open. */
  | { readonly event: "tally"; readonly tally: TallyView }
  /** Callbacks that were left out; the list has them. */
  | { readonly event: "gap"; readonly gap: GapView }
  /** The connection broke; it is being opened again. */
  | { readonly event: "disconnected" }
  | { readonly event: "reconnected" };

export interface LiveOptions {
  /** Ends the stream, and with it the iteration. */
  readonly signal?: AbortSignal;
}

type Connect = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

const RECONNECT_DELAY_MS = 1_000;
/** The receiver says something every two seconds; a connection over which nothing comes is dead. */
const IDLE_TIMEOUT_MS = 30_000;
const NAMES = { callback: "callback", tally: "tally", gap: "gap" } as const;

/** @param connect opens the stream, with the place in it among the headers */
export async function* readLive(
  connect: Connect,
  { signal = new AbortController().signal }: LiveOptions = {},
): AsyncGenerator<LiveEvent, void, void> {
  let position: string | undefined;
  let state: "first" | "open" | "disconnected" = "first";
  while (!signal.aborted) {
    const connection = withIdleTimeout(signal);
    try {
      const headers = position === undefined ? {} : { "last-event-id": position };
      const { body } = await connect(headers, connection.signal);
      if (state === "disconnected") yield { event: "reconnected" };
      state = "open";
      for await (const { event, data, id } of readEvents(
        body as NonNullable<typeof body>,
        connection.watch,
      )) {
        position = id ?? position;
        const name = NAMES[event as keyof typeof NAMES];
        if (name !== undefined) yield { event: name, [name]: JSON.parse(data) } as unknown as LiveEvent;
      }
    } catch (error) {
      if (signal.aborted) return;
      // It has answered before: it is being restarted, most likely, and what comes meanwhile is in its log.
      if (state === "first" || (error instanceof AdminError && error.status < 500)) throw error;
    } finally {
      connection.end();
    }
    if (signal.aborted) return;
    if (state === "open") yield { event: "disconnected" };
    state = "disconnected";
    await pause(signal);
  }
}

/** A signal that is aborted with another one, or when what is waited for does not come for too long. */
function withIdleTimeout(over: AbortSignal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  let timer = setTimeout(end, IDLE_TIMEOUT_MS);
  over.addEventListener("abort", end);
  return {
    signal: ending.signal,
    watch: {
      begin() {
        clearTimeout(timer);
        timer = setTimeout(end, IDLE_TIMEOUT_MS);
      },
      end: () => clearTimeout(timer),
    },
    end() {
      clearTimeout(timer);
      over.removeEventListener("abort", end);
      end();
    },
  };
}

function pause(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, RECONNECT_DELAY_MS);
    over.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** One event of a stream; a comment is one without data. */
interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * The events of `text/event-stream`, as far as the admin API sends them. Reading ends with the stream.
 * @param idleTimer told when the next piece is waited for, and when it has come: a connection over which nothing comes may be dead
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  idleTimer: { begin(): void; end(): void },
): AsyncGenerator<ServerSentEvent, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      idleTimer.begin();
      const { done, value } = await reader.read();
      idleTimer.end();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): ServerSentEvent {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }
  return { event: fields.get("event") ?? "", data: fields.get("data") ?? "", id: fields.get("id") };
}

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

type Connect = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

const RECONNECT_DELAY_MS = 1_000;
/** The receiver sends a tally every two seconds; a silent connection is dead. */
const IDLE_TIMEOUT_MS = 30_000;
const NAMES: ReadonlySet<string> = new Set(["callback", "tally", "gap"]);

/**
 * @param connect opens the stream, with the position in it among the headers
 * @param signal ends the stream, and with it the iteration
 */
export async function* readLive(
  connect: Connect,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<LiveEvent, void, void> {
  let position: string | undefined;
  let state: "first" | "open" | "disconnected" = "first";
  while (!signal.aborted) {
    const connection = new AbortController();
    try {
      const headers = position === undefined ? {} : { "last-event-id": position };
      const connecting = connect(headers, AbortSignal.any([signal, connection.signal]));
      const { body } = await unlessIdle(connection, connecting);
      if (state === "disconnected") yield { event: "reconnected" };
      state = "open";
      for await (const { event = "", data = "", id } of readEvents(body, connection)) {
        position = id ?? position;
        if (NAMES.has(event)) yield { event, [event]: JSON.parse(data) } as unknown as LiveEvent;
      }
    } catch (error) {
      if (signal.aborted) return;
      // It has responded before: probably it is being restarted, and its log has the missed callbacks.
      if (state === "first" || (error instanceof AdminError && error.status < 500)) throw error;
    } finally {
      connection.abort();
    }
    if (signal.aborted) return;
    if (state === "open") yield { event: "disconnected" };
    state = "disconnected";
    await pause(signal);
  }
}

async function unlessIdle<Value>(connection: AbortController, coming: Promise<Value>): Promise<Value> {
  const timer = setTimeout(() => connection.abort(), IDLE_TIMEOUT_MS);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
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

/** The fields of each event of `text/event-stream`, as far as the admin API sends them; a comment has none. */
async function* readEvents(body: Response["body"], connection: AbortController) {
  const reader = (body as NonNullable<typeof body>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await unlessIdle(connection, reader.read());
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield fieldsOf(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function fieldsOf(block: string): Record<string, string> {
  const fields = block.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")] as const] : [];
  });
  return Object.fromEntries(fields);
}

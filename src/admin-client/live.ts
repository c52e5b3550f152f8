import type { CallbackView, GapView, TallyView } from "../admin/index.ts";
import { AdminError } from "./request.ts";
import { messagesOf } from "./server-sent-events.ts";

export type LiveEvent =
  | { readonly event: "callback"; readonly callback: CallbackView }
  /** Every two seconds; the first one says that the stream is open. */
  | { readonly event: "tally"; readonly tally: TallyView }
  /** Callbacks that were left out; the list has them. */
  | { readonly event: "gap"; readonly gap: GapView }
  /** The connection broke; it is being opened again. */
  | { readonly event: "away" }
  | { readonly event: "back" };

export interface LiveOptions {
  /** Ends the stream, and with it the iteration. */
  readonly signal?: AbortSignal;
}

type Connect = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

const AGAIN_AFTER_MS = 1_000;
/** The receiver says something every two seconds; a connection over which nothing comes is dead. */
const SILENCE_MS = 30_000;
const NAMES = { callback: "callback", tally: "tally", gap: "gap" } as const;

/** @param connect opens the stream, with the place in it among the headers */
export async function* readLive(
  connect: Connect,
  { signal: over = new AbortController().signal }: LiveOptions = {},
): AsyncGenerator<LiveEvent, void, void> {
  let place: string | undefined;
  let state: "first" | "open" | "away" = "first";
  while (!over.aborted) {
    const connection = watched(over);
    try {
      const headers = place === undefined ? {} : { "last-event-id": place };
      const { body } = await connect(headers, connection.signal);
      if (state === "away") yield { event: "back" };
      state = "open";
      for await (const { event, data, id } of messagesOf(
        body as NonNullable<typeof body>,
        connection.watch,
      )) {
        place = id ?? place;
        const name = NAMES[event as keyof typeof NAMES];
        if (name !== undefined) yield { event: name, [name]: JSON.parse(data) } as unknown as LiveEvent;
      }
    } catch (error) {
      if (over.aborted) return;
      // It has answered before: it is being restarted, most likely, and what comes meanwhile is in its log.
      if (state === "first" || (error instanceof AdminError && error.status < 500)) throw error;
    } finally {
      connection.end();
    }
    if (over.aborted) return;
    if (state === "open") yield { event: "away" };
    state = "away";
    await pause(over);
  }
}

/** A signal that is aborted with another one, or when what is waited for does not come for too long. */
function watched(over: AbortSignal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  let timer = setTimeout(end, SILENCE_MS);
  over.addEventListener("abort", end);
  return {
    signal: ending.signal,
    watch: {
      begin() {
        clearTimeout(timer);
        timer = setTimeout(end, SILENCE_MS);
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
    const timer = setTimeout(done, AGAIN_AFTER_MS);
    over.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    }
  });
}

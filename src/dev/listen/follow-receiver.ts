import { setTimeout as sleep } from "node:timers/promises";
import { type CapturedRequest, captureLines, Disconnected } from "./capture-stream.ts";

export interface FollowOptions {
  /** Of the receiver: its CALLBACK_BASE_URL. */
  readonly from: URL;
  readonly token: string;
  /** The end of an earlier run. */
  readonly position: string | undefined;
  readonly sinceSeconds: number | undefined;
  readonly signal: AbortSignal;
  readonly log: (words: string) => void;
  readonly onConnected: (place: string, isAgain: boolean) => void;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

/**
 * Every request that the receiver gets, in its order and once. Each connection continues after the last request of the
 * one before.
 * @throws Disconnected where the next connection would end in the same way
 */
export async function* followReceiver(options: FollowOptions): AsyncGenerator<CapturedRequest, void, void> {
  const { signal, log } = options;
  const progress: Progress = { position: options.position, wasConnected: false, failures: 0 };
  while (!signal.aborted) {
    try {
      for await (const request of readConnection(options, progress)) {
        yield request;
        progress.position = request.at;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Disconnected) || error.retryWhen === "never") throw error;
      if (error.retryWhen === "after_success" && !progress.wasConnected) throw error;
      if (progress.failures === 0) log(`${error.message}; trying again`);
      const delay = Math.max(error.retryAfterMs, retryDelay(progress.failures));
      progress.failures += 1;
      await sleep(delay, undefined, { signal }).catch(() => {});
    }
  }
}

interface Progress {
  position: string | undefined;
  wasConnected: boolean;
  /** Connections in a row that brought nothing. */
  failures: number;
}

async function* readConnection(options: FollowOptions, progress: Progress): AsyncGenerator<CapturedRequest> {
  const { from, token, signal, log } = options;
  const isAgain = progress.wasConnected;
  const url = captureUrl(from, progress.position, options);
  for await (const line of captureLines(url, token, signal)) {
    if (line.line !== "hello") progress.failures = 0;
    switch (line.line) {
      case "hello":
        if (line.database !== "same") log(DATABASE_MESSAGES[line.database]);
        if (isAgain) log("connected again");
        progress.position = line.at;
        progress.wasConnected = true;
        options.onConnected(line.at, isAgain);
        break;
      case "request":
        yield line;
        break;
      case "unreadable":
        progress.position = line.at;
        log("one callback cannot be read: the receiver's ENCRYPTION_KEY has changed since it came");
        break;
      case "swept":
        log("some callbacks are missing: the receiver keeps them for a day, and 50,000 or 256 MB of them at most");
        break;
      default:
    }
  }
}

const DATABASE_MESSAGES = {
  another:
    "the receiver's database is another one, or callbacks were not kept there for a while: this begins with the first it has",
  older: "the receiver's database was put back to an earlier state: this goes on with what comes now",
} as const;

function captureUrl(from: URL, place: string | undefined, { sinceSeconds }: FollowOptions): URL {
  const url = new URL(from);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/_oncehook/captured`;
  if (place !== undefined) url.searchParams.set("after", place);
  else if (sinceSeconds !== undefined) url.searchParams.set("since", String(sinceSeconds));
  return url;
}

/** Doubles, up to ten seconds. Half of it is chance, so that not all listeners reconnect at once. */
function retryDelay(failures: number): number {
  const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
  return most * (0.5 + Math.random() / 2);
}

import { setTimeout as sleep } from "node:timers/promises";
import { UserMistake } from "../user-mistake.ts";
import { Disconnected } from "./disconnected.ts";
import { heardLines } from "./heard-stream.ts";
import type { ReadRequest } from "./read-line.ts";

export interface FollowOptions {
  /** Of the receiver: its CALLBACK_BASE_URL. */
  readonly from: URL;
  readonly token: string;
  /** Where an earlier run stopped. */
  readonly place: string | undefined;
  readonly sinceSeconds: number | undefined;
  readonly signal: AbortSignal;
  readonly say: (words: string) => void;
  /** Told of the place where it begins. */
  readonly began: (place: string, isAgain: boolean) => void;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

/**
 * Every request that the receiver gets, in its order and once: over one connection after another, each of which goes on
 * behind the request before.
 * @throws UserMistake where the next connection would end in the same way
 */
export async function* followReceiver(options: FollowOptions): AsyncGenerator<ReadRequest, void, void> {
  const { signal, say } = options;
  const progress: Progress = { place: options.place, wasConnected: false, failures: 0 };
  while (!signal.aborted) {
    try {
      for await (const request of oneConnection(options, progress)) {
        yield request;
        progress.place = request.at;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Disconnected)) throw error;
      if (!mayPass(error, progress)) throw new UserMistake(error.message, { cause: error });
      if (progress.failures === 0) say(`${error.message}; trying again`);
      const delay = Math.max(error.retryAfterMs, delayAfter(progress.failures));
      progress.failures += 1;
      await sleep(delay, undefined, { signal }).catch(() => {});
    }
  }
}

interface Progress {
  place: string | undefined;
  wasConnected: boolean;
  /** Connections in a row that brought nothing. */
  failures: number;
}

function mayPass({ passes }: Disconnected, { wasConnected }: Progress): boolean {
  return passes === "soon" || (passes === "where_it_worked" && wasConnected);
}

async function* oneConnection(options: FollowOptions, progress: Progress): AsyncGenerator<ReadRequest> {
  const { from, token, signal, say } = options;
  const isAgain = progress.wasConnected;
  const url = addressOf(from, progress.place, options);
  for await (const line of heardLines({ url, token, signal })) {
    if (line.line !== "hello") progress.failures = 0;
    switch (line.line) {
      case "hello":
        if (line.database !== "same") say(DATABASE_WORDS[line.database]);
        if (isAgain) say("connected again");
        progress.place = line.at;
        progress.wasConnected = true;
        options.began(line.at, isAgain);
        break;
      case "request":
        yield line;
        break;
      case "unreadable":
        progress.place = line.at;
        say("one callback cannot be read: the receiver's ENCRYPTION_KEY has changed since it came");
        break;
      case "swept":
        say(
          "some callbacks are missing: the receiver keeps them for a day, and 50,000 or 256 MB of them at most",
        );
        break;
      default:
    }
  }
}

const DATABASE_WORDS = {
  another:
    "the receiver's database is another one, or callbacks were not kept there for a while: this begins with the first it has",
  older: "the receiver's database was put back to an earlier state: this goes on with what comes now",
} as const;

function addressOf(from: URL, place: string | undefined, { sinceSeconds }: FollowOptions): URL {
  const url = new URL(from);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/_oncehook/heard`;
  if (place !== undefined) url.searchParams.set("after", place);
  else if (sinceSeconds !== undefined) url.searchParams.set("since", String(sinceSeconds));
  return url;
}

/** Doubles, up to ten seconds; half of it is chance, so that not all listeners come back at once. */
function delayAfter(failures: number): number {
  const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
  return most * (0.5 + Math.random() / 2);
}

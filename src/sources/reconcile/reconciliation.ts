import { durationMs } from "../../domain/index.ts";
import { optionError, wrongOption } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";

/** The times of events that are listed: `from` inclusive, `to` exclusive. */
export interface ReconcileWindow {
  readonly from: Date;
  readonly to: Date;
}

/** A callback as the platform would have sent it: what a contract reads. */
export type MissedCallback = Pick<SignedRequest, "headers" | "body">;

/** An event that a platform's API lists. */
export interface ListedEvent {
  /** The id that the source's contract reads from a callback of this event. */
  readonly id: string;
  readonly type: string;
  /** The event's time as the platform writes it, only for display. */
  readonly at: string;
  /** Called only for an event that is missing: GitHub needs a request for each. @throws ApiError */
  readonly callback: () => Promise<MissedCallback>;
}

export interface ListedPage {
  readonly events: readonly ListedEvent[];
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

export interface ListContext {
  /** The cursor at which an earlier listing of the window stopped. */
  readonly cursor: string | undefined;
  /** Ends requests and pauses. */
  readonly signal: AbortSignal;
  /** Waits so many milliseconds between tries. Rejects when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** How the events of a source are found that never arrived. */
export interface Reconciliation {
  /** The interval of the receiver's own runs, in milliseconds; undefined where only `oncehook reconcile` asks. */
  readonly everyMs: number | undefined;
  /** How many days the platform keeps its events. */
  readonly keepsDays: number;
  /** The address of such an event in the callback log. */
  readonly address: string;
  /** Page after page. @throws ApiError for a platform that does not respond as documented */
  readonly list: (window: ReconcileWindow, context: ListContext) => AsyncIterable<ListedPage>;
}

/** The options of every platform's `reconcile`. */
export interface ReconcileOptions {
  /** A secret of the platform's API; no log shows it. */
  readonly apiKey: string | undefined;
  /** Such as `15m`, `1h` or `1d`, from one minute on. Without it only `oncehook reconcile` asks the platform. */
  readonly every?: `${number}m` | `${number}h` | `${number}d`;
  /** Another host, for a sandbox or a test: https, or http on this machine. */
  readonly apiUrl?: string;
}

const PRINTABLE = /^[\x21-\x7e]+$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** @throws TypeError that names the option that is wrong */
export function readReconcileOptions(options: ReconcileOptions, defaultUrl: string) {
  const { apiKey, every, apiUrl = defaultUrl } = options;
  if (typeof apiKey !== "string" || !PRINTABLE.test(apiKey)) {
    const got = apiKey ? "a text with white space or other than ASCII" : "none";
    const expected = "the platform's API key; is its variable set?";
    throw optionError("reconcile.apiKey", got, expected);
  }
  const everyMs = every === undefined ? undefined : durationMs(every);
  if (everyMs !== undefined && !(everyMs >= 60_000))
    throw wrongOption("reconcile.every", every, 'such as "15m", "1h" or "1d"');
  const url = URL.parse(apiUrl);
  const fault = faultOfUrl(url);
  if (url === null || fault !== undefined)
    throw optionError("reconcile.apiUrl", String(fault), `an https address such as ${defaultUrl}`);
  return { apiKey, everyMs, apiUrl: url.href.replace(/\/$/, "") };
}

/** The fault of an address that must not get the API key; never its text, which may hold a secret. */
function faultOfUrl(url: URL | null): string | undefined {
  if (url === null) return "a text that is no address";
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
  if (!isSafe) return `an address of ${url.protocol}`;
  const isBare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isBare ? undefined : "an address with a user, query or fragment";
}

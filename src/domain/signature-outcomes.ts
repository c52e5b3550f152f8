import { isoTimeOf } from "./clock.ts";
import { outcomeStatus } from "./faults.ts";

/** Callbacks by what their outcomes say of the signature. */
export interface SignatureCounts {
  readonly authentic: number;
  readonly wrong: number;
  readonly unsigned: number;
}

/** Outcomes that only a callback with a valid signature can have, by their names and how these begin. */
const AUTHENTIC =
  /^(?:success|already_processed|accepted|ignored|rejected|result_invalid|body_(?!too_large)|event_|handler_|commit_)/;

/** The state of the signature by an outcome; undefined for one that does not tell, such as an overload. */
export function signatureOf(outcome: string): keyof SignatureCounts | undefined {
  if (AUTHENTIC.test(outcome)) return "authentic";
  if (outcomeStatus(outcome) !== 401 || outcome === "endpoint_check") return undefined;
  return outcome.endsWith("_missing") ? "unsigned" : "wrong";
}

/** Callbacks of a source that ended with an outcome in a period. */
export interface PeriodCount {
  readonly source: string;
  readonly outcome: string;
  /** The start of the period, in seconds since the epoch. */
  readonly slot: number;
  readonly count: number;
}

/** A source whose callbacks were authentic, and are all refused since. */
export interface RefusedSource {
  readonly source: string;
  /** How many were refused since the last authentic one. */
  readonly count: number;
  /** When the last authentic one came, to the minute or better, in ISO 8601. */
  readonly since: string;
  /** When the first refused one after it came, and the last one: to the minute or better, in ISO 8601. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** The most frequent outcome of those that were refused. */
  readonly outcome: string;
  readonly remedy: string;
  /** By the hour, the 24 hours up to now. */
  readonly hourly: readonly number[];
  /** One sentence, with the numbers; a list shows `since` beside it, in the zone of its reader. */
  readonly title: string;
  /** With `since` and the remedy. */
  readonly message: string;
}

const HOUR_SECONDS = 3_600;
export const QUARTER_SECONDS = 900;
/** Fewer refused callbacks are a test, or a mistake that ends by itself. */
export const MIN_REFUSED = 10;
/** The usual number of authentic callbacks below which their absence proves nothing. */
export const MIN_USUAL = 30;
/** So few prove that the secret was right before, if both kinds of callbacks have one sender. */
const MIN_AUTHENTIC = 3;
/** So many networks at once are a platform's, or an effort that no scanner makes. */
const MIN_NETWORKS = 3;

/** The counts of a source since its last authentic callback. */
export interface RefusalCounts {
  readonly source: string;
  /** Of those refused since. */
  readonly count: number;
  /** In seconds since the epoch: when the last authentic callback came, and the first and the last refused one since. */
  readonly lastAuthentic: number;
  readonly firstRefused: number;
  readonly lastRefused: number;
  readonly outcome: string;
  /** Of the day up to the last authentic one. */
  readonly before: SignatureCounts;
  readonly hourly: readonly number[];
}

/** The remote addresses of a source's newest callbacks, as the log has them. */
export interface SenderAddresses {
  readonly authentic: readonly string[];
  readonly refused: readonly string[];
}

/**
 * Whether refused callbacks are the platform's own, and so a fault of a secret. Anyone can send forgeries while a platform
 * is silent. They count only from a network that has sent authentic callbacks, or from several networks. After an hour
 * in which a busy source sent nothing authentic they count from any.
 * @param now in seconds since the epoch
 */
export function isRefusedSource(counts: RefusalCounts, senders: SenderAddresses, now: number): boolean {
  const { before, count, lastAuthentic } = counts;
  if (count < MIN_REFUSED || before.authentic < 9 * (before.wrong + before.unsigned)) return false;
  if (before.authentic >= MIN_USUAL && now - lastAuthentic >= HOUR_SECONDS) return true;
  if (before.authentic < MIN_AUTHENTIC) return false;
  const platform = new Set(senders.authentic.map(networkOf));
  const refusing = new Set(senders.refused.map(networkOf));
  return platform.size > 0 && (refusing.size >= MIN_NETWORKS || [...refusing].some((network) => platform.has(network)));
}

/** An IPv4 address without its last number; the log has an IPv6 address as its /64. */
function networkOf(address: string): string {
  return address.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1");
}

/** @param remedy of the newest diagnosis in the log; @param since the exact time where the log has it */
export function describeRefusedSource(counts: RefusalCounts, remedy = COMPARE, since?: string): RefusedSource {
  const { source, count, before, outcome, hourly } = counts;
  const from = since ?? isoTimeOf(counts.lastAuthentic);
  const ofBefore = before.authentic + before.wrong + before.unsigned;
  const title =
    `${source}: ${count} callbacks refused (${outcome}), none authentic; ` +
    `in the day before that ${before.authentic} of ${ofBefore} were`;
  return {
    source,
    count,
    since: from,
    firstSeen: isoTimeOf(counts.firstRefused),
    lastSeen: isoTimeOf(counts.lastRefused),
    outcome,
    remedy,
    hourly,
    title,
    message: refusalMessage({ title, since: from, remedy }),
  };
}

/** For a text without a time beside it. @param since in ISO 8601 */
export function refusalMessage({ title, since, remedy }: Pick<RefusedSource, "title" | "since" | "remedy">): string {
  return `${refusalCause({ title, since })} ${remedy}`;
}

/** A sentence without the remedy. */
export function refusalCause({ title, since }: Pick<RefusedSource, "title" | "since">): string {
  return `${title}. The last authentic one came at ${since.slice(0, 16).replace("T", " ")} UTC.`;
}

const COMPARE = "Compare its secret with the platform's.";

export function countsOf(periods: readonly PeriodCount[]): SignatureCounts {
  const counts = { authentic: 0, wrong: 0, unsigned: 0 };
  for (const { outcome, count } of periods) {
    const signature = signatureOf(outcome);
    if (signature !== undefined) counts[signature] += count;
  }
  return counts;
}

export function isRefusal(outcome: string): boolean {
  return (signatureOf(outcome) ?? "authentic") !== "authentic";
}

import type { Clock, JsonValue } from "../../domain/index.ts";
import { compileLocation } from "./locate.ts";
import type { Readable } from "./reading.ts";

export interface EventTimeData {
  readonly at: string;
  /**
   * `seconds` may have a fraction; `iso` is RFC 3339, in UTC where it has no offset. A text of the other kind is read
   * as well. A number too large for its unit is read as the next smaller one: platforms write both in one place.
   */
  readonly unit: "seconds" | "milliseconds" | "iso";
  /** Default: whether its place lies in the body, or an item of it. One that is not signed is not read. */
  readonly isSigned?: boolean;
}

const NUMBER = /^\d{1,19}(?:\.\d{1,9})?$/;
/** Seconds and their fraction may be missing; PayPal, Discord and Xero leave out some of it. */
const ISO = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:([+-]\d\d):?(\d\d)?|[Zz]|UTC|GMT)?$/;
/** As milliseconds it is in 2001; fewer seconds are far ahead or right, such as a year 9999 for "never". */
const MILLISECONDS_FROM = 1e12;
/** How far a platform's clock may be ahead. */
const MAX_AHEAD_SECONDS = 300;

/**
 * A time that is not signed does not count, since it would feed `dropStale`. A sender with recorded bytes could make
 * all later events of a key stale. One far ahead would do so for good, and is no event's time either.
 * @returns the event's time in whole seconds since the Unix epoch, rounded down; the time of receipt where it has none
 */
export function compileEventTime(data: EventTimeData | undefined, clock: Clock): (from: Readable) => number {
  const now = ({ receivedAt = clock.now() }: Readable) => Math.floor(receivedAt.getTime() / 1000);
  if (data === undefined) return now;
  const location = compileLocation(data.at);
  if (!(data.isSigned ?? location.isSigned)) return now;
  return (from) => {
    const seconds = secondsOf(location.read(from), data.unit);
    const received = now(from);
    return seconds >= 0 && seconds <= received + MAX_AHEAD_SECONDS ? Math.floor(seconds) : received;
  };
}

/** NaN for what is no time. */
function secondsOf(value: JsonValue | undefined, unit: EventTimeData["unit"]): number {
  if (typeof value === "string" && !NUMBER.test(value)) return secondsOfDate(value);
  if (typeof value !== "number" && typeof value !== "string") return Number.NaN;
  let seconds = Number(value) / (unit === "milliseconds" ? 1000 : 1);
  while (seconds >= MILLISECONDS_FROM) seconds /= 1000;
  return seconds;
}

/** A text without an offset is in UTC: the zone of this machine says nothing of the platform's. */
function secondsOfDate(text: string): number {
  const [match, day, time, hours, minutes = "00"] = ISO.exec(text) ?? [];
  if (match === undefined) return Number.NaN;
  return Date.parse(`${day}T${time}${hours === undefined ? "Z" : `${hours}:${minutes}`}`) / 1000;
}

import type { Clock, JsonValue } from "../../domain/index.ts";
import { compileLocation } from "./locate.ts";
import type { Readable } from "./reading.ts";

export interface EventTimeData {
  readonly at: string;
  /** `seconds` may have a fraction; `iso` is RFC 3339 with its offset. */
  readonly unit: "seconds" | "milliseconds" | "iso";
  /** Default: whether its place lies in the body, or an item of it. One that is not signed is not read. */
  readonly isSigned?: boolean;
}

const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/;
const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:([Zz])|([+-]\d\d):?(\d\d))$/;
/** How far a platform's clock may be ahead. */
const MAX_AHEAD_SECONDS = 300;

/**
 * A time that is not signed does not count: it would feed `dropStale`, and a stranger with recorded bytes could make all
 * later events of a key stale. One far ahead would do so for good, and is no event's time either.
 * @returns the event's time in whole seconds since the Unix epoch, rounded down; the time of receipt where it has none
 */
export function compileEventTime(data: EventTimeData | undefined, clock: Clock): (from: Readable) => number {
  const now = () => Math.floor(clock.now().getTime() / 1000);
  if (data === undefined) return now;
  const location = compileLocation(data.at);
  if (!(data.isSigned ?? location.isSigned)) return now;
  return (from) => {
    const seconds = secondsOf(location.read(from), data.unit);
    const received = now();
    return seconds >= 0 && seconds <= received + MAX_AHEAD_SECONDS ? Math.floor(seconds) : received;
  };
}

function secondsOf(value: JsonValue | undefined, unit: EventTimeData["unit"]): number {
  if (unit === "iso") return typeof value === "string" ? secondsOfDate(value) : Number.NaN;
  const number = typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
  if (typeof number !== "number") return Number.NaN;
  return unit === "milliseconds" ? number / 1000 : number;
}

function secondsOfDate(text: string): number {
  const [, day, time, utc, hours, minutes] = RFC_3339.exec(text) ?? [];
  if (day === undefined) return Number.NaN;
  return Date.parse(`${day}T${time}${utc === undefined ? `${hours}:${minutes}` : "Z"}`) / 1000;
}

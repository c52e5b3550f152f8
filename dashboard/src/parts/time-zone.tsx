import { useSearch } from "@tanstack/react-router";

/** The zone in which the page writes times: the reader's own, or UTC as logs have it. */
export type TimeZone = "local" | "utc";

/** The chosen zone. It stands in the address as `tz=utc`, so that a shared link shows the same times. */
export function useTimeZone(): TimeZone {
  const search: { readonly tz?: unknown } = useSearch({ strict: false });
  return search.tz === "utc" ? "utc" : "local";
}

/** The reader's zone, such as `Europe/Stockholm`. */
export const LOCAL_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The parts of a time, each of a fixed width: `27 Nov`, `08:07:38` and `.042`. */
export function timeParts(at: string, zone: TimeZone): { date: string; clock: string; milliseconds: string } {
  const instant = new Date(at);
  const date = zone === "utc" ? instant : new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
  const [, clock = "", milliseconds = ""] = /T(.{8})(\.\d{3})/.exec(date.toISOString()) ?? [];
  return { date: `${padded(date.getUTCDate())} ${MONTHS[date.getUTCMonth()]}`, clock, milliseconds };
}

function padded(value: number): string {
  return String(value).padStart(2, "0");
}

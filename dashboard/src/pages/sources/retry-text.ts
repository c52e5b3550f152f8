const DAY_HOURS = 24;

/** A time in its largest whole unit, such as `3 days`. */
export function hoursText(hours: number): string {
  if (hours >= DAY_HOURS && hours % DAY_HOURS === 0) return counted(hours / DAY_HOURS, "day");
  return hours < 1 ? counted(Math.round(hours * 60), "minute") : counted(Math.round(hours * 10) / 10, "hour");
}

/** How long a platform sends a callback again; undefined where that is not documented. */
export function retryText(hours: number | null | undefined): string | undefined {
  if (hours === null || hours === undefined) return undefined;
  return hours === 0 ? "none" : `for ${hoursText(hours)}`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DATE_AND_CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

interface Props {
  /** ISO 8601; null where there is none. */
  readonly at: string | null;
  /** With how long ago, or how soon, it is. */
  readonly relative?: boolean;
}

/** A time where the reader is; the title has it as the API says it. */
export function Time({ at, relative = false }: Props) {
  if (at === null) return <>–</>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const text = (isToday ? CLOCK : DATE_AND_CLOCK).format(date);
  return (
    <time dateTime={at} title={at}>
      {relative ? `${text} (${distance(date)})` : text}
    </time>
  );
}

function distance(date: Date): string {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

import { useSyncExternalStore } from "react";
import { timeParts, useTimeZone } from "./time-zone.tsx";

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const SHORT = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

interface Props {
  /** ISO 8601; null where there is none. */
  readonly at: string | null;
  /** With how long ago it is. */
  readonly relative?: boolean;
  /** Of `relative`: it is to come, and may be late. All other times have happened, whatever the clocks say. */
  readonly isAhead?: boolean;
  /** Without its seconds. */
  readonly isShort?: boolean;
}

/** A time in the chosen zone; its title has the value of the API. */
export function Time({ at, relative = false, isAhead = false, isShort = false }: Props) {
  const zone = useTimeZone();
  if (at === null) return <>–</>;
  const date = new Date(at);
  const { date: day, clock } = timeParts(at, zone);
  return (
    <time dateTime={at} title={at}>
      {day} {isShort ? clock.slice(0, 5) : clock}
      {relative && (
        <>
          {" "}
          (<Distance to={date} isAhead={isAhead} />)
        </>
      )}
    </time>
  );
}

interface AgeProps {
  readonly at: string;
  /** Only a number and its unit, such as `37 min`, before another age. */
  readonly isBare?: boolean;
}

/** How long ago a time is. The text changes once a minute at most; its title has the time. */
export function Age({ at, isBare = false }: AgeProps) {
  const zone = useTimeZone();
  const { date, clock } = timeParts(at, zone);
  return (
    <time dateTime={at} title={`${date} ${clock} (${at})`}>
      {isBare ? <Amount since={new Date(at)} /> : <Distance to={new Date(at)} isShort />}
    </time>
  );
}

function Amount({ since }: { readonly since: Date }) {
  const seconds = Math.max(0, Math.round((useClock() - since.getTime()) / 1000));
  const [unit, size] = unitOf(seconds);
  return amountIn(unit).format(Math.round(seconds / size));
}

/** The greatest unit of which these are one or more. */
function unitOf(seconds: number): (typeof UNITS)[number] {
  return UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
}

const AMOUNTS = new Map<string, Intl.NumberFormat>();

/** A format is dear to make, and each row of a list asks for one every second. */
function amountIn(unit: string): Intl.NumberFormat {
  const format = AMOUNTS.get(unit) ?? new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short" });
  AMOUNTS.set(unit, format);
  return format;
}

interface DistanceProps {
  readonly to: Date;
  readonly isAhead?: boolean;
  readonly isShort?: boolean;
}

/** Goes on with the time, as long as it is shown. The clock here may be behind that of the receiver. */
function Distance({ to, isAhead = false, isShort = false }: DistanceProps) {
  const difference = Math.round((to.getTime() - useClock()) / 1000);
  const seconds = isAhead ? difference : Math.min(0, difference);
  const [unit, size] = unitOf(seconds);
  if (!isShort) return RELATIVE.format(Math.round(seconds / size), unit);
  return unit === "second" ? SHORT.format(0, "second") : SHORT.format(Math.round(seconds / size), unit);
}

const EVERY_MS = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time in milliseconds, in whole seconds; its users re-render each second. One timer serves all of them. */
function useClock(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / EVERY_MS) * EVERY_MS);
}

/** Whether this moment, in milliseconds, is past; its users re-render when it comes. */
export function useIsPast(moment: number): boolean {
  return useSyncExternalStore(subscribe, () => Date.now() > moment);
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, EVERY_MS);
  return () => {
    listeners.delete(notify);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const WHOLE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A duration to read: a tenth of a millisecond matters below ten of them. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${(value < 10 ? TENTHS : WHOLE).format(value)} ms`;
}

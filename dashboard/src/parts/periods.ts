import type { KeyboardEvent } from "react";
import type { Span } from "../views.ts";
import { type TimeZone, timeParts } from "./time-zone.tsx";

/** The spans of a chart, as a choice. */
export const SPANS = [
  { value: "hour", label: "Hour" },
  { value: "day", label: "Day" },
  { value: "month", label: "Month" },
];

/** The time of a span, in words. */
export const SPAN_TEXT = { hour: "the last hour", day: "the last 24 hours", month: "the last 30 days" } as const;

/** A label below each so many periods. */
export const TICK_EVERY = { hour: 10, day: 16, month: 30 } as const;

/** The times of a period, as filters. */
export function rangeOf(start: string, stepSeconds: number): { readonly from: string; readonly to: string } {
  return { from: start, to: new Date(Date.parse(start) + stepSeconds * 1_000).toISOString() };
}

/** When a period began, as far as the span needs it. */
export function periodLabel(start: string, span: Span, zone: TimeZone): string {
  const { date, clock } = timeParts(start, zone);
  if (span === "hour") return clock.slice(0, 5);
  return span === "month" && clock.startsWith("00:") ? date : `${date} ${clock.slice(0, 5)}`;
}

/** The arrow keys go from period to period, of which one is in the tab order. */
export function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" } as const;
  const sibling = event.key in step ? step[event.key as keyof typeof step] : undefined;
  if (sibling === undefined) return;
  event.preventDefault();
  ((event.target as Element)[sibling] as HTMLElement | null)?.focus();
}

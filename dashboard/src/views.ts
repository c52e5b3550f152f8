import type {
  CallbackView,
  EventHistoryView,
  OverviewView,
  ReplayView,
  SandboxView,
  SourcesView,
} from "oncehook/admin-client";

/** Parts of what the admin API returns, under names of their own. */
export type Span = OverviewView["span"];
export type Bucket = OverviewView["buckets"][number];
export type AlertView = OverviewView["alerts"][number];
export type TimelineEntry = EventHistoryView["timeline"][number];
export type Diagnosis = NonNullable<CallbackView["diagnosis"]>;
export type Statement = NonNullable<ReplayView["statements"]>[number];
export type SourceView = SourcesView["items"][number];
export type HandlerView = SourcesView["handlers"][number];
export type SandboxEvent = SandboxView["events"][number];
export type SandboxSource = SandboxView["sources"][number];

/** A page of any list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  /** How far back a bounded search has come; null at the list's end, and left out where searches are not bounded. */
  readonly searched_until?: string | null;
}

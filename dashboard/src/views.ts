import type {
  CallbackView,
  EventHistoryView,
  OverviewView,
  ReplayView,
  SandboxView,
  SourcesView,
} from "oncehook/admin-client";

export type { SourceView } from "oncehook/admin-client";

/** Names for parts of the admin API's responses. */
export type Span = OverviewView["span"];
export type Bucket = OverviewView["buckets"][number];
export type AlertView = OverviewView["alerts"][number];
export type TimelineEntry = EventHistoryView["timeline"][number];
export type Diagnosis = NonNullable<CallbackView["diagnosis"]>;
export type RecordedRun = EventHistoryView["runs"][number];
export type Statement = NonNullable<ReplayView["statements"]>[number];
export type HandlerView = SourcesView["handlers"][number];
export type SandboxEvent = SandboxView["events"][number];
export type SandboxSource = SandboxView["sources"][number];

/** A page of any list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  /** The time back to which a bounded search has come; null at the end, absent for other lists. */
  readonly searched_until?: string | null;
}

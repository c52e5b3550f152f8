import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FAILURE_TITLES } from "../parts/failure-titles.ts";
import { outcomeTitle, toneOf } from "../parts/outcome.ts";
import { TextBlock } from "../parts/text-block.tsx";
import { milliseconds } from "../parts/time.tsx";
import { timeParts, useTimeZone } from "../parts/time-zone.tsx";
import type { TimelineEntry } from "../views.ts";
import { type Moment, momentsOf } from "./moments.ts";
import { ownFramesFirst } from "./own-frames.ts";

interface Props {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Reads later ones; undefined where there are none. */
  readonly more: (() => void) | undefined;
  /** How the delivery with this callback differs from the first one. */
  readonly changes: (callbackId: number) => ReactNode;
}

export function Timeline({ entries, more, changes }: Props) {
  const moments = momentsOf(entries);
  return (
    <>
      <ol className="moments">
        {moments.map((moment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: moments have no name, and none comes before another later on.
          <li key={index}>
            <Entry moment={moment} number={attemptNumber(moments, index)} before={moments[index - 1]?.at} />
            {"callback_id" in moment && moment.callback_id !== null && changes(moment.callback_id)}
          </li>
        ))}
      </ol>
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Load later entries
        </Button>
      )}
    </>
  );
}

interface EntryProps {
  readonly moment: Moment;
  readonly number: number;
  /** The time of the entry before. */
  readonly before: string | undefined;
}

function Entry({ moment, number, before }: EntryProps) {
  const { date, clock, milliseconds: fraction } = timeParts(moment.at, useTimeZone());
  const title = entryTitle(moment, number);
  return (
    <>
      <Group gap="sm">
        <Text fw={500}>{title}</Text>
        {"outcome" in moment && <EntryOutcome moment={moment} title={title} />}
      </Group>
      <Text c="dimmed">
        <time dateTime={moment.at} title={moment.at}>
          {date} {clock}
          {fraction}
        </time>
        {before !== undefined && ` ${delta(Date.parse(moment.at) - Date.parse(before))}`}
      </Text>
      {"error" in moment && moment.error !== null && (
        <details>
          <summary>{moment.error.split("\n", 1)[0]}</summary>
          <TextBlock label="The error with its stack" text={ownFramesFirst(moment.error)} />
        </details>
      )}
    </>
  );
}

/** How long after the entry before, in the unit that has one to three digits. */
function delta(ms: number): string {
  if (ms < 1_000) return `+${ms} ms`;
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${(ms / 60_000).toFixed(1)} min`;
  return ms < 86_400_000 ? `+${(ms / 3_600_000).toFixed(1)} h` : `+${(ms / 86_400_000).toFixed(1)} d`;
}

interface OutcomeProps {
  readonly moment: Extract<TimelineEntry, { outcome: string }>;
  readonly title: string;
}

/** How a delivery or an attempt ended, where its title does not say it. */
function EntryOutcome({ moment, title }: OutcomeProps) {
  const { outcome, duration_ms, response_status } = moment;
  const label = outcomeTitle(outcome);
  return (
    <>
      {!title.startsWith(`${label},`) && (
        <span className="outcome" data-tone={toneOf(outcome, response_status ?? undefined)}>
          {label}
        </span>
      )}
      <span className="quiet">{milliseconds(duration_ms)}</span>
    </>
  );
}

const BY = {
  callback: "Attempt",
  accepted: "Attempt after response",
  retry: "Retry",
  replay: "Replay",
  bulk: "Bulk replay",
} as const;

/** Counts attempts of one kind: the first retry is Retry 1. */
function attemptNumber(entries: readonly Moment[], index: number): number {
  const entry = entries[index];
  if (entry?.kind !== "attempt") return 0;
  return entries.slice(0, index + 1).filter((one) => one.kind === "attempt" && one.by === entry.by).length;
}

function entryTitle(moment: Moment, number: number): string {
  switch (moment.kind) {
    case "received":
      return "Received";
    case "delivery":
      if (moment.outcome.startsWith("accepted")) return "Accepted, response sent before the handler ended";
      if (moment.outcome === "ignored") return "Ignored, no handler for its type";
      return moment.outcome === "already_processed" ? "Duplicate, not processed again" : "Callback, handler not run";
    case "attempt":
      return `${BY[moment.by]} ${number}`;
    case "failure":
      return FAILURE_TITLES[moment.state];
    case "record":
      return "Record completed";
    case "notification":
      return moment.state === "enqueued"
        ? `Notification ${moment.topic} queued`
        : `Notification ${moment.topic} delivered to ${moment.channel ?? "its channel"}`;
  }
}

import { Button, Group, Text } from "@mantine/core";
import type { FailureView } from "oncehook/admin-client";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import type { TimelineEntry } from "../../views.ts";

interface Props {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** Reads later ones; undefined where there are none. */
  readonly more: (() => void) | undefined;
}

export function Timeline({ entries, more }: Props) {
  return (
    <>
      <ol className="moments">
        {entries.map((moment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: moments have no name, and none comes before another later on.
          <li key={index}>
            <Entry moment={moment} number={attemptNumber(entries, index)} />
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

function Entry({ moment, number }: { readonly moment: TimelineEntry; readonly number: number }) {
  return (
    <>
      <Group gap="sm">
        <Text fw={600}>{entryTitle(moment, number)}</Text>
        {"outcome" in moment && <EntryOutcome moment={moment} />}
      </Group>
      <Text size="sm" c="dimmed">
        <Time at={moment.at} />
      </Text>
      {"error" in moment && moment.error !== null && (
        <details>
          <summary>{moment.error.split("\n", 1)[0]}</summary>
          <TextBlock label="The error with its stack" text={moment.error} />
        </details>
      )}
    </>
  );
}

/** How a delivery or an attempt ended, and where its request is. */
function EntryOutcome({ moment }: { readonly moment: Extract<TimelineEntry, { outcome: string }> }) {
  const { outcome, duration_ms, callback_id, response_status } = moment;
  return (
    <>
      <OutcomeBadge outcome={outcome} {...(response_status === null ? {} : { status: response_status })} />
      <Text size="sm">{milliseconds(duration_ms)}</Text>
      {callback_id !== null && (
        <PageLink to="/callbacks/$id" params={{ id: String(callback_id) }}>
          The request
        </PageLink>
      )}
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
function attemptNumber(entries: readonly TimelineEntry[], index: number): number {
  const entry = entries[index];
  if (entry?.kind !== "attempt") return 0;
  return entries.slice(0, index + 1).filter((one) => one.kind === "attempt" && one.by === entry.by).length;
}

const FAILURE_TITLES: Readonly<Record<FailureView["state"], string>> = {
  accepted: "Accepted, not run yet",
  waiting: "Waiting for retry",
  exhausted: "Retries exhausted",
  rejected: "Rejected",
};

function entryTitle(moment: TimelineEntry, number: number): string {
  switch (moment.kind) {
    case "delivery":
      if (moment.outcome === "accepted") return "Accepted, response sent before the handler ended";
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

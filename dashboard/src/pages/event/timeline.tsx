import { Button, Group, Text } from "@mantine/core";
import { milliseconds } from "../../parts/milliseconds.ts";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import type { Moment } from "../../views.ts";

interface Props {
  /** Oldest first. */
  readonly moments: readonly Moment[];
  /** Reads later ones; undefined where there are none. */
  readonly more: (() => void) | undefined;
}

export function Timeline({ moments, more }: Props) {
  return (
    <>
      <ol className="moments">
        {moments.map((moment, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: moments have no name, and none comes before another later on.
          <li key={at}>
            <OneMoment moment={moment} />
          </li>
        ))}
      </ol>
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Show what came after
        </Button>
      )}
    </>
  );
}

function OneMoment({ moment }: { readonly moment: Moment }) {
  return (
    <>
      <Group gap="sm">
        <Text fw={600}>{headOf(moment)}</Text>
        {"outcome" in moment && <Ending moment={moment} />}
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
function Ending({ moment }: { readonly moment: Extract<Moment, { outcome: string }> }) {
  const { outcome, took_ms, callback_id, response_status } = moment;
  return (
    <>
      <OutcomeBadge outcome={outcome} {...(response_status === null ? {} : { status: response_status })} />
      <Text size="sm">{milliseconds(took_ms)}</Text>
      {callback_id !== null && (
        <PageLink to="/callbacks/$id" params={{ id: String(callback_id) }}>
          The request
        </PageLink>
      )}
    </>
  );
}

const BY = {
  callback: "in a callback",
  retry: "as a retry",
  replay: "as a replay",
  bulk: "in a bulk replay",
} as const;

function headOf(moment: Moment): string {
  switch (moment.kind) {
    case "delivery":
      return "Delivered; no handler ran";
    case "attempt":
      return `The handler ran ${BY[moment.by]}`;
    case "failure":
      return moment.state === "exhausted" ? "Kept for a person" : "Kept for its retry";
    case "record":
      return "The record was completed";
    case "notification":
      return moment.state === "enqueued"
        ? `Notification ${moment.topic} queued`
        : `Notification ${moment.topic} delivered to ${moment.channel ?? "its channel"}`;
  }
}

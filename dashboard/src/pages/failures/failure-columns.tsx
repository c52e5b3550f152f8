import { Text } from "@mantine/core";
import type { FailureView } from "oncehook/admin-client";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import type { Column } from "../../parts/rows.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { type Ends, FailureActions } from "./failure-actions.tsx";

const EVENT: Column<FailureView> = {
  head: "Event",
  cell: ({ source, event_id, event_type }) => (
    <>
      <PageLink to="/events/$source/$event_id" params={{ source, event_id }}>
        {event_id}
      </PageLink>
      <Text size="sm">
        {event_type}, {source}
      </Text>
    </>
  ),
};

const WHY: Column<FailureView> = {
  head: "Why",
  cell: ({ code, error }) => (
    <>
      <OutcomeBadge outcome={code} status={500} />
      <details>
        <summary>{error.split("\n", 1)[0]}</summary>
        <TextBlock label="The error with its stack" text={error} />
      </details>
    </>
  ),
};

const ATTEMPTS: Column<FailureView> = {
  head: "Attempts",
  cell: ({ attempts, last_failed_at }) => (
    <>
      {attempts}
      <Text size="sm">
        last <Time at={last_failed_at} />
      </Text>
    </>
  ),
};

const NEXT: Column<FailureView> = {
  head: "Next",
  cell: ({ state, next_attempt_at }) =>
    state === "exhausted" ? "never: it waits for a person" : <Time at={next_attempt_at} relative />,
};

/** @param ends told of what came of an action, since its row may be gone then */
export function failureColumns(ends: Ends): readonly Column<FailureView>[] {
  const actions: Column<FailureView> = {
    head: "Actions",
    cell: (failure) => <FailureActions failure={failure} {...ends} />,
  };
  return [EVENT, WHY, ATTEMPTS, NEXT, actions];
}

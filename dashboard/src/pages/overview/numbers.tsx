import { Paper, SimpleGrid, Text } from "@mantine/core";
import { type OverviewView, outcomeCounts } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { milliseconds, Time } from "../../parts/time.tsx";
import type { LiveTally } from "./live-tally.ts";

interface Props {
  readonly overview: OverviewView;
  /** Counted live; undefined where nothing has been told yet. */
  readonly now: LiveTally | undefined;
}

const COUNT = new Intl.NumberFormat();
const RATE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

export function OverviewNumbers({ overview: { totals, failures, notifications }, now }: Props) {
  const { handled, duplicates, refused, failed } = outcomeCounts(totals.outcomes);
  const waiting = now?.tally.waiting ?? failures.waiting;
  const exhausted = now?.tally.exhausted ?? failures.exhausted;
  const rejected = now?.tally.rejected ?? failures.rejected;
  return (
    <SimpleGrid component="section" aria-label="In numbers" cols={{ base: 2, sm: 3, lg: 4 }} spacing="sm">
      <OneNumber label="Callbacks/s">{now?.rate === undefined ? "–" : RATE.format(now.rate)}</OneNumber>
      <OneNumber label="Handled">{COUNT.format(handled)}</OneNumber>
      <OneNumber label="Duplicates">{COUNT.format(duplicates)}</OneNumber>
      <OneNumber label="Refused">{COUNT.format(refused)}</OneNumber>
      <OneNumber label="Failed">{COUNT.format(failed)}</OneNumber>
      <OneNumber label="p50">{milliseconds(totals.p50_ms)}</OneNumber>
      <OneNumber label="p99">{milliseconds(totals.p99_ms)}</OneNumber>
      <OneNumber label="Waiting for retry">
        {COUNT.format(waiting)}
        {waiting > 0 && failures.next_attempt_at !== null && (
          <Text size="sm">
            next <Time at={failures.next_attempt_at} />
          </Text>
        )}
      </OneNumber>
      <OneNumber label="Retries exhausted">{COUNT.format(exhausted)}</OneNumber>
      <OneNumber label="Rejected">{COUNT.format(rejected)}</OneNumber>
      <OneNumber label="Waiting deliveries">{COUNT.format(notifications.waiting)}</OneNumber>
      <OneNumber label="Failed deliveries">{COUNT.format(notifications.dead)}</OneNumber>
    </SimpleGrid>
  );
}

function OneNumber({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="sm">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="xl" fw={600}>
        {children}
      </Text>
    </Paper>
  );
}

import { Button, Group, Text } from "@mantine/core";
import type { Live } from "./live.ts";

const STATE_LABELS: Readonly<Record<Live["state"], string>> = {
  off: "Not live: the filters end in the past.",
  connecting: "Connecting…",
  live: "Live",
  lost: "Not live: the receiver refuses to send callbacks as they come. Load the page again to try.",
};

interface Props {
  readonly live: Live;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
}

/** Whether the list is live, and the button that pauses it. */
export function LiveToggle({ live, isPaused, setPaused }: Props) {
  const canPause = live.state === "live" || live.state === "connecting";
  return (
    <Group gap="sm">
      <Text size="sm">
        <span role="status">
          {isPaused && canPause ? "Paused" : STATE_LABELS[live.state]}
          {live.hasGap && !isPaused && "; more came than is shown, the list is being read again"}
        </span>
        {/* A screen reader would read each of the numbers out. */}
        {isPaused && canPause && `; ${live.held} new`}
      </Text>
      {canPause && (
        <Button variant="default" size="compact-sm" onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
    </Group>
  );
}

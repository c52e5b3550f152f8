import { Badge } from "@mantine/core";

interface Props {
  readonly outcome: string;
  /** The HTTP status that the platform got. */
  readonly status?: number;
}

/** How a callback or an attempt ended, in words; the colour only repeats them. */
export function OutcomeBadge({ outcome, status }: Props) {
  return (
    <Badge color={colorOf(outcome, status)} variant="light" tt="none" radius="sm">
      {outcome.replaceAll("_", " ")}
    </Badge>
  );
}

/** Green: handled; grey: nothing is decided or to be done; orange: rejected; red: failed, the sender retries. */
export function colorOf(outcome: string, status?: number): string {
  if (outcome === "success" || outcome === "done" || outcome === "delivered") return "green";
  if (outcome === "already_processed" || outcome === "ignored" || outcome === "handshake" || outcome === "accepted")
    return "gray";
  if (status !== undefined) return status >= 500 ? "red" : "orange";
  return outcome === "refused" || outcome === "waiting" || outcome === "paused" ? "orange" : "red";
}

import { Text } from "@mantine/core";
import { Time } from "../../parts/time.tsx";
import type { Telling } from "./tally.ts";

interface Props {
  /** When the numbers were read, in milliseconds. */
  readonly at: number;
  readonly isStale: boolean;
  readonly now: Telling;
}

/** How old the numbers are, and whether they go on by themselves. */
export function AsOf({ at, isStale, now }: Props) {
  return (
    <Text size="sm" fw={isStale ? 600 : 400}>
      As of <Time at={new Date(at).toISOString()} />
      <span role="status">
        {isStale && "; newer numbers do not come"}
        {now === "away" && "; live numbers are away, trying again"}
      </span>
    </Text>
  );
}

import { Button, NumberInput, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import type { StartReplay } from "./use-replays.ts";

const SPEED = { least: 1, usual: 10, most: 100 };

interface Props {
  readonly count: number;
  readonly start: StartReplay;
}

/** Replays every failure of a problem, at a bounded rate. */
export function StartReplayButton({ count, start }: Props) {
  const title = count === 1 ? "Replay 1" : `Replay all ${count}`;
  const [isOpen, dialog] = useDisclosure();
  const [perSecond, setPerSecond] = useState(SPEED.usual);
  return (
    <>
      <Button size="compact-sm" variant="default" disabled={start.isPending} onClick={dialog.open}>
        {title}
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title={title}>
        <Stack>
          <Text>
            Each event is run once, one after the other. You can pause and cancel it. It continues after a restart, and
            events that fail again stay in the problem of their cause.
          </Text>
          <NumberInput
            label="Max per second"
            min={SPEED.least}
            max={SPEED.most}
            allowDecimal={false}
            value={perSecond}
            onChange={(value) => setPerSecond(Number(value))}
          />
          <Button
            onClick={() => {
              dialog.close();
              start.mutate(perSecond);
            }}
          >
            Start the replay
          </Button>
        </Stack>
      </Dialog>
    </>
  );
}

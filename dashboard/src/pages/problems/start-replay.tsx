import { Button, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { RateInput, USUAL_RATE } from "../../parts/rate-input.tsx";
import type { StartReplay } from "./use-replays.ts";

interface Props {
  readonly title: string;
  readonly start: StartReplay;
}

/** Replays every failure of a problem, at a bounded rate. */
export function StartReplayButton({ title, start }: Props) {
  const [isOpen, dialog] = useDisclosure();
  const [perSecond, setPerSecond] = useState(USUAL_RATE);
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
          <RateInput value={perSecond} change={setPerSecond} />
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

import { Button, NumberInput, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FailureFilter } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";

const SPEED = { least: 1, usual: 10, most: 100 };

/** Replays everything that the filters let through, at a bounded speed. */
export function StartBulkReplay({ filter }: { readonly filter: FailureFilter }) {
  const [isOpen, dialog] = useDisclosure();
  const [perSecond, setPerSecond] = useState(SPEED.usual);
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => api.bulkReplays.start({ filter, per_second: perSecond }),
    onSuccess: () => navigate({ to: "/bulk-replays" }),
  });
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        Replay all of these
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title="Replay all of these">
        <Stack>
          <Text>
            Every failure {wordsOf(filter)} is run once, one after the other. It can be paused and cancelled,
            goes on after a restart, and what fails again stays in the list.
          </Text>
          <NumberInput
            label="At most so many a second"
            min={SPEED.least}
            max={SPEED.most}
            allowDecimal={false}
            value={perSecond}
            onChange={(value) => setPerSecond(Number(value))}
          />
          {start.isError && <Problem error={start.error} title="It could not be started" />}
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            Start the replay
          </Button>
        </Stack>
      </Dialog>
    </>
  );
}

function wordsOf(filter: FailureFilter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined);
  return set.length === 0
    ? "that there is"
    : `with ${set.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

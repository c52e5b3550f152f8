import { Button, NumberInput, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FailureFilter } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/page-states.tsx";

const SPEED = { least: 1, usual: 10, most: 100 };

interface Props {
  readonly filter: FailureFilter;
  /** How many failures are listed; `50+` where there are more. */
  readonly count: string;
}

/** Replays every failure that the filters match, at a bounded rate. */
export function StartBulkReplay({ filter, count }: Props) {
  const title = `Replay ${count} ${count === "1" ? "failure" : "failures"}`;
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
        {title}
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title={title}>
        <Stack>
          <Text>
            Every failure {describeFilter(filter)} is run once, one after the other. It can be paused and cancelled,
            goes on after a restart, and what fails again stays in the list.
          </Text>
          <NumberInput
            label="Max per second"
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

function describeFilter(filter: FailureFilter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined);
  return set.length === 0 ? "that there is" : `with ${set.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

import { Button, Group, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { EventKey } from "oncehook/admin-client";
import { useState } from "react";
import { slowApi } from "../client.ts";
import { Problem } from "../parts/page-states.tsx";
import { ReplayOutcome } from "./failure-action-result.tsx";

/** Runs a handled event again, after its dry run. The audit log keeps the reason. */
export function RunAgain({ event }: { readonly event: EventKey }) {
  const { source, event_id } = event;
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const replay = useMutation({
    mutationFn: () => slowApi.events.replay({ source, event_id }, reason.trim()),
    onSettled: () => queries.invalidateQueries({ queryKey: ["event", source, event_id] }),
  });
  return (
    <section aria-labelledby="run-again">
      <h2 id="run-again">Run it again</h2>
      <p className="quiet">
        The new result replaces the earlier one, which is kept. What the handler wrote before stays.
      </p>
      <Group align="end" gap="xs">
        <TextInput label="Reason" value={reason} onChange={({ currentTarget }) => setReason(currentTarget.value)} />
        <Button disabled={reason.trim() === ""} loading={replay.isPending} onClick={() => replay.mutate()}>
          Run again
        </Button>
      </Group>
      {replay.isError && <Problem error={replay.error} title="It could not be run again" />}
      {replay.data !== undefined && <ReplayOutcome replay={replay.data} />}
    </section>
  );
}

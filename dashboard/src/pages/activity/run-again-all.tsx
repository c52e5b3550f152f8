import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { CallbackFilters, HandledFilter } from "oncehook/admin-client";
import { useState } from "react";
import { api, slowApi } from "../../client.ts";
import { ReplayOutcome } from "../../panel/failure-action-result.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { RateInput, USUAL_RATE } from "../../parts/rate-input.tsx";
import { Time } from "../../parts/time.tsx";
import { useMayChange } from "../../session.ts";

/**
 * Runs the handled events of the filters again, after a dry run of the first one. They need a source. The button has no
 * number: the counts above are of callbacks. An exact one reads all records, as the dialog does.
 */
export function RunAgainAll({ filters }: { readonly filters: CallbackFilters }) {
  const [isOpen, dialog] = useDisclosure();
  const filter = handledFilter(filters);
  const trial = useMutation({ mutationFn: (of: HandledFilter) => slowApi.bulkReplays.dryRunHandled(of) });
  if (!useMayChange() || filter === undefined) return null;
  const open = () => {
    trial.mutate(filter);
    dialog.open();
  };
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open}>
        Run all handled again…
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title="Run handled events again" size="xl">
        {trial.isPending && <Loading what="the dry run" />}
        {trial.isError && <Problem error={trial.error} title="The dry run could not be made" />}
        {trial.data !== undefined && <Start filter={filter} trial={trial.data} />}
      </Dialog>
    </>
  );
}

interface StartProps {
  readonly filter: HandledFilter;
  readonly trial: Awaited<ReturnType<typeof api.bulkReplays.dryRunHandled>>;
}

function Start({ filter, trial: { total, first, sample } }: StartProps) {
  const [reason, setReason] = useState("");
  const [perSecond, setPerSecond] = useState(USUAL_RATE);
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => api.bulkReplays.startHandled({ filter, reason: reason.trim(), per_second: perSecond }),
    onSuccess: ({ id }) => navigate({ to: "/problems/replays/$id", params: { id: String(id) } }),
  });
  if (first === null) return <Text>No event of these filters was handled.</Text>;
  const events = total === 1 ? "1 event" : `${total} events`;
  return (
    <Stack>
      <Selected filter={filter} />
      <Text>
        The dry run of the first one, {first.event_id}: each is run once, and its new result replaces the earlier one,
        which is kept. What the handler wrote before stays.
      </Text>
      {first.skipped !== null && <Text>It would be skipped: {first.skipped}</Text>}
      {first.replay !== null && <ReplayOutcome replay={first.replay} />}
      <SampleLine sample={sample} />
      <TextInput label="Reason" value={reason} onChange={({ currentTarget }) => setReason(currentTarget.value)} />
      <RateInput value={perSecond} change={setPerSecond} />
      {start.isError && <Problem error={start.error} title="It could not be started" />}
      <Button disabled={reason.trim() === ""} loading={start.isPending} onClick={() => start.mutate()}>
        Run {events} again
      </Button>
    </Stack>
  );
}

/** The filter in words: it may be wider than its reader thinks. */
function Selected({ filter: { source, event_type, from, to } }: Pick<StartProps, "filter">) {
  return (
    <Text>
      <strong>{source}</strong>, <strong>{event_type ?? "all types"}</strong>, handled{" "}
      {from === undefined && to === undefined && "at any time"}
      {from !== undefined && (
        <>
          since <Time at={from} />
        </>
      )}
      {to !== undefined && (
        <>
          {" "}
          until <Time at={to} />
        </>
      )}
    </Text>
  );
}

/** How the first 20 went, where there are several. */
function SampleLine({ sample: { run, skipped, failed } }: Pick<StartProps["trial"], "sample">) {
  const [first] = failed;
  if (run + skipped < 2) return null;
  return (
    <section className="result-line" data-tone={first === undefined ? "quiet" : "failed"} aria-label="Sample">
      <p>
        Of the first {run + skipped}, run dry: {run - failed.length} would succeed, {skipped} would be skipped,{" "}
        {failed.length} would fail.
      </p>
      {first !== undefined && (
        <p>
          Such as {first.event_id}: {first.reason}
        </p>
      )}
    </section>
  );
}

/** Undefined without a source, or with a filter that handled events do not have. */
function handledFilter({ source, event_type, from, to, ...others }: CallbackFilters): HandledFilter | undefined {
  const { outcome, ...rest } = others;
  const isNarrower = Object.values(rest).some((value) => value !== undefined);
  const isOfHandled = outcome === undefined || outcome === "success" || outcome === "handled";
  if (source === undefined || isNarrower || !isOfHandled) return undefined;
  return {
    source,
    ...(event_type !== undefined && { event_type }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

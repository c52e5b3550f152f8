import { Button, Checkbox, Group, NativeSelect, NumberInput, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { BackfillParams, BackfillPreviewView, BackfillView } from "oncehook/admin-client";
import { useState } from "react";
import { api, slowApi } from "../../client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { Rows } from "../../parts/rows.tsx";
import { BackfillCounts } from "./backfill-counts.tsx";
import { COUNT } from "./problem-text.ts";

const USUAL_RATE = 10;
const MOST_PER_SECOND = 1_000;
const DAY_MS = 86_400_000;
const AGES = [
  { value: "1", label: "The last day" },
  { value: "7", label: "The last 7 days" },
  { value: "30", label: "The last 30 days" },
  { value: "90", label: "The last 90 days" },
  { value: "", label: "A chosen time" },
];

interface Props {
  /** Of the address; empty where none is chosen. */
  readonly handler: string;
  readonly started: (backfill: BackfillView) => void;
  readonly close: () => void;
}

/** Chooses a handler and a time, shows the dry run, and then starts the backfill. */
export function StartBackfill({ handler: given, started, close }: Props) {
  const handlers = useHandlers();
  const [handler, setHandler] = useState(given);
  const [age, setAge] = useState("30");
  const [time, setTime] = useState("");
  const [perSecond, setPerSecond] = useState(USUAL_RATE);
  const [includesFormer, setIncludesFormer] = useState(false);
  const queries = useQueryClient();
  const trial = useMutation({ mutationFn: (asked: BackfillParams) => slowApi.backfills.preview(asked) });
  const start = useMutation({
    mutationFn: (asked: BackfillParams) => api.backfills.start(asked),
    onSuccess: started,
    onSettled: () => queries.invalidateQueries({ queryKey: ["backfills"] }),
  });
  const since = sinceOf(age, time);
  const asked = { handler, include_former: includesFormer, per_second: perSecond };
  /** A result is of what was asked for then. */
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      trial.reset();
      start.reset();
    };
  const names = [...new Set([...(handler === "" ? [] : [handler]), ...(handlers.data ?? [])])];
  return (
    <Dialog isOpen close={close} title="Start a backfill" size="xl">
      <Stack>
        <Text>
          The handler gets the events of its types since then, once each: what it has already is left out. They run as
          accepted events, with their retries.
        </Text>
        {handlers.isError && <Problem error={handlers.error} title="The handlers could not be read" />}
        <SimpleGrid cols={{ base: 1, xs: 2, sm: age === "" ? 4 : 3 }} spacing="sm">
          <NativeSelect
            label="Handler"
            value={handler}
            data={[{ value: "", label: "Choose a handler" }, ...names]}
            onChange={({ currentTarget }) => change(setHandler)(currentTarget.value)}
          />
          <SinceInput age={age} time={time} setAge={change(setAge)} setTime={change(setTime)} />
          <NumberInput
            label="Max per second"
            min={1}
            max={MOST_PER_SECOND}
            allowDecimal={false}
            value={perSecond}
            onChange={(value) => setPerSecond(Number(value))}
          />
        </SimpleGrid>
        <Checkbox
          label="Run events again that a handler of a former name has handled"
          checked={includesFormer}
          onChange={({ currentTarget }) => change(setIncludesFormer)(currentTarget.checked)}
        />
        {trial.isPending && <Loading what="the dry run" />}
        {trial.isError && <Problem error={trial.error} title="The dry run could not be made" />}
        {trial.data !== undefined && <Trial trial={trial.data} />}
        {start.isError && <Problem error={start.error} title="It could not be started" />}
        <Group justify="flex-end">
          <Button
            variant={trial.data === undefined ? "filled" : "default"}
            disabled={handler === "" || since === undefined}
            loading={trial.isPending}
            onClick={() => since !== undefined && trial.mutate({ ...asked, since })}
          >
            Dry run
          </Button>
          {trial.data !== undefined && trial.variables !== undefined && (
            <Button
              disabled={trial.data.accepted === 0}
              loading={start.isPending}
              onClick={() => start.mutate({ ...trial.variables, per_second: perSecond })}
            >
              Start with {eventsText(trial.data)}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}

interface SinceProps {
  /** In days; empty for a chosen time. */
  readonly age: string;
  readonly time: string;
  readonly setAge: (age: string) => void;
  readonly setTime: (time: string) => void;
}

function SinceInput({ age, time, setAge, setTime }: SinceProps) {
  return (
    <>
      <NativeSelect
        label="Events since"
        value={age}
        data={AGES}
        onChange={({ currentTarget }) => setAge(currentTarget.value)}
      />
      {age === "" && (
        <TextInput
          label="Time"
          type="datetime-local"
          value={time}
          onChange={({ currentTarget }) => setTime(currentTarget.value)}
        />
      )}
    </>
  );
}

function Trial({ trial }: { readonly trial: BackfillPreviewView }) {
  const { sample } = trial;
  const succeeded = sample.run - sample.failed.length;
  const tone = sample.failed.length > 0 ? "failed" : trial.accepted === 0 ? "quiet" : "success";
  return (
    <section className="result-line" data-tone={tone} aria-label="Dry run">
      <p role="status">
        {eventsText(trial)} would be accepted; nothing has changed.{" "}
        {sample.run > 0 &&
          `Of the first ${sample.run}, ${succeeded} would succeed and ${sample.failed.length} would fail.`}
        {sample.run === 0 && trial.accepted > 0 && "None was run: its handler has an outside step."}
      </p>
      <BackfillCounts counts={trial} />
      {sample.failed.length > 0 && (
        <Rows
          caption="Events of the sample that would fail"
          columns={[
            { head: "Type", cell: ({ type }) => type },
            { head: "Event", cell: ({ id }) => <code>{id}</code> },
            { head: "Reason", cell: ({ reason }) => reason },
          ]}
          rows={sample.failed}
          keyOf={({ type, id }) => `${type} ${id}`}
        />
      )}
    </section>
  );
}

function eventsText({ accepted, is_complete }: BackfillPreviewView): string {
  const events = `${COUNT.format(accepted)} ${accepted === 1 ? "event" : "events"}`;
  return is_complete ? events : `${events} or more`;
}

/** The names under which handlers can be asked for: `stripe`, `stripe#audit`. */
function useHandlers() {
  return useQuery({
    queryKey: ["sources"],
    queryFn: api.sources.list,
    select: ({ handlers }) =>
      [
        ...new Set(handlers.flatMap(({ source, name }) => (name === null ? [source] : [source, `${source}#${name}`]))),
      ].toSorted(),
  });
}

/** ISO 8601; undefined where no time is chosen. */
function sinceOf(age: string, time: string): string | undefined {
  if (age !== "") return new Date(Date.now() - Number(age) * DAY_MS).toISOString();
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

import { Button, NativeSelect } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { slowApi } from "../../client.ts";
import type { SandboxEvent, SandboxSource } from "../../views.ts";
import { CallbackForm, type Sending } from "./callback-form.tsx";
import { SourceCallback } from "./source-callback.tsx";

const BUILT_IN = { value: "platform", label: "the built-in protocol (platform)" };

interface ComposerProps {
  /** The source that is chosen at first; the first one where it is left out. */
  readonly chosen?: string | undefined;
  readonly events: readonly SandboxEvent[];
  readonly sources: readonly SandboxSource[];
}

export function Composer({ chosen, events, sources }: ComposerProps) {
  const [name, setName] = useState(chosen ?? sources[0]?.source ?? BUILT_IN.value);
  const source = sources.find((one) => one.source === name);
  return (
    <section className="sandbox" aria-label="Compose a callback">
      <h2>A callback</h2>
      {sources.length > 0 && (
        <NativeSelect
          className="sandbox-source"
          label="Source"
          value={name}
          data={[...sources.map((one) => one.source), BUILT_IN]}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
      {source === undefined ? <BuiltInCallback events={events} /> : <SourceCallback key={name} source={source} />}
    </section>
  );
}

const nameOf = ({ event_type, version }: SandboxEvent) => `${event_type} ${version}`;
const sampleText = (event: SandboxEvent | undefined) => JSON.stringify(event?.sample ?? {}, null, 2);

function BuiltInCallback({ events }: Pick<ComposerProps, "events">) {
  const [chosen, setChosen] = useState(events[0]);
  const [body, setBody] = useState(sampleText(events[0]));
  const version = chosen === undefined ? {} : { version: chosen.version };
  const send = useMutation({
    mutationFn: (sending: Sending) => slowApi.sandbox.send({ ...sending, ...version }),
  });
  const choose = (name: string) => {
    const event = events.find((one) => nameOf(one) === name);
    setChosen(event);
    setBody(sampleText(event));
  };
  return (
    <CallbackForm
      body={body}
      onBody={setBody}
      hint="The same event_id again is a duplicate: it gets a response, and changes nothing."
      warning={isJson(body) ? undefined : "This is not JSON; it is sent as it is."}
      send={send}
      renew={
        <Button variant="default" onClick={() => setBody(withNewId(body))}>
          New event id
        </Button>
      }
    >
      <NativeSelect
        label="Event type and version"
        data={events.map(nameOf)}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
    </CallbackForm>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text.trim() === "";
  }
}

/** A body that is no JSON object stays what it is. */
function withNewId(body: string): string {
  try {
    const event: unknown = JSON.parse(body);
    if (typeof event !== "object" || event === null || Array.isArray(event)) return body;
    return JSON.stringify({ ...event, event_id: `evt_${Math.random().toString(36).slice(2, 12)}` }, null, 2);
  } catch {
    return body;
  }
}

import { Button, Group, NativeSelect, Stack, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { SandboxRequest, SandboxResultView } from "oncehook/admin-client";
import { useState } from "react";
import { slowApi } from "../../client.ts";
import { Facts } from "../../parts/facts.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { milliseconds } from "../../parts/time.tsx";
import type { SandboxEvent } from "../../views.ts";

const SIGNATURES = [
  { value: "right", label: "signed as the platform would" },
  { value: "wrong", label: "with a wrong signature" },
  { value: "none", label: "not signed" },
] as const;

const nameOf = ({ event_type, version }: SandboxEvent) => `${event_type} ${version}`;
const textOf = (event: SandboxEvent | undefined) => JSON.stringify(event?.sample ?? {}, null, 2);

export function Composer({ events }: { readonly events: readonly SandboxEvent[] }) {
  const [chosen, setChosen] = useState(events[0]);
  const [body, setBody] = useState(textOf(events[0]));
  const [sign, setSign] = useState<NonNullable<SandboxRequest["sign"]>>("right");
  const send = useMutation({ mutationFn: slowApi.sandbox.send });
  const choose = (name: string) => {
    const event = events.find((one) => nameOf(one) === name);
    setChosen(event);
    setBody(textOf(event));
  };
  const version = chosen === undefined ? {} : { version: chosen.version };
  return (
    <Stack component="section" aria-label="Compose a callback">
      <h2>A callback</h2>
      <Group align="end">
        <NativeSelect
          label="Event type and version"
          data={events.map(nameOf)}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
        <NativeSelect
          label="Signature"
          data={SIGNATURES}
          onChange={({ currentTarget }) =>
            setSign(SIGNATURES.find(({ value }) => value === currentTarget.value)?.value ?? "right")
          }
        />
      </Group>
      <Textarea
        label="Body, as it is signed and sent"
        description="The same event_id again is a duplicate: it gets a response, and changes nothing."
        value={body}
        onChange={({ currentTarget }) => setBody(currentTarget.value)}
        autosize
        minRows={6}
        // As it is typed: a line that appeared on blur would move the button from under the pointer.
        error={isJson(body) ? undefined : "This is not JSON; it is sent as it is."}
        autoComplete="off"
        data-monospace
      />
      <Group>
        <Button loading={send.isPending} onClick={() => send.mutate({ body, sign, ...version })}>
          {" "}
          Send{" "}
        </Button>
        <Button variant="default" onClick={() => setBody(withNewId(body))}>
          New event id
        </Button>
      </Group>
      {send.isError && <Problem error={send.error} title="It could not be sent" />}
      {send.data !== undefined && <SandboxResult result={send.data} />}
    </Stack>
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

/** What was sent over the wire, its signature masked, and what came back. */
function SandboxResult({
  result: { request, response, duration_ms },
}: {
  readonly result: SandboxResultView;
}) {
  return (
    <section aria-label="Request and response">
      <div role="status">
        <h3>
          Response {response.status} in {milliseconds(duration_ms)}
        </h3>
      </div>
      <TextBlock label="Response body" text={response.body} />
      <details>
        <summary>Request and headers</summary>
        <h4>
          {request.method} {request.url}
        </h4>
        <Facts of={Object.entries(request.headers)} />
        <h4>Response headers</h4>
        <Facts of={Object.entries(response.headers)} />
      </details>
    </section>
  );
}

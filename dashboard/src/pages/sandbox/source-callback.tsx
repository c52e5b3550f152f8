import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, slowApi } from "../../client.ts";
import { Problem } from "../../parts/page-states.tsx";
import type { SandboxSource } from "../../views.ts";
import { CallbackForm, type Sending } from "./callback-form.tsx";

/** A callback in the shape of a source's platform, with its headers and its signature. */
export function SourceCallback({ source: { source, title, types } }: { readonly source: SandboxSource }) {
  const [first = ""] = types;
  const [type, setType] = useState(first);
  const [body, setBody] = useState("");
  const { mutate: fill, ...sample } = useMutation({
    mutationFn: (wanted: string) => api.sandbox.sample(source, wanted),
    onSuccess: (made) => setBody(indented(made.body)),
  });
  const send = useMutation({
    mutationFn: (sending: Sending) => slowApi.sandbox.sendAs(source, { type, ...sending }),
  });
  useEffect(() => {
    if (first !== "") fill(first);
  }, [first, fill]);
  const choose = (wanted: string) => {
    setType(wanted);
    if (types.includes(wanted)) fill(wanted);
  };
  return (
    <>
      <CallbackForm
        body={body}
        onBody={setBody}
        hint={`In the shape of ${title}. New sample makes another one, with an id of its own.`}
        send={send}
        isReady={type !== ""}
        renew={
          <Button variant="default" loading={sample.isPending} disabled={type === ""} onClick={() => fill(type)}>
            New sample
          </Button>
        }
      >
        <TextInput
          label="Event type"
          value={type}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
          list="types-of-source"
          autoComplete="off"
        />
        <datalist id="types-of-source">
          {types.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </CallbackForm>
      {sample.isError && <Problem error={sample.error} title="There is no sample" />}
    </>
  );
}

/** A form, or a text, stays what it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

import { Button, Group, NativeSelect, Stack, Textarea } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import type { SandboxRequest, SandboxResultView } from "oncehook/admin-client";
import { type ReactNode, useState } from "react";
import { Facts } from "../../parts/facts.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { milliseconds } from "../../parts/time.tsx";
import "./sandbox.css";

const SIGNATURES = [
  { value: "right", label: "signed as its platform would" },
  { value: "wrong", label: "with a wrong signature" },
  { value: "none", label: "not signed" },
] as const;

export interface Sending {
  readonly body: string;
  readonly sign: NonNullable<SandboxRequest["sign"]>;
}

interface CallbackFormProps {
  readonly body: string;
  readonly onBody: (body: string) => void;
  /** Of the body. */
  readonly hint: string;
  readonly warning?: string | undefined;
  readonly send: UseMutationResult<SandboxResultView, Error, Sending>;
  readonly isReady?: boolean;
  /** The field of the event's type. */
  readonly children: ReactNode;
  /** A button beside the one that sends. */
  readonly renew: ReactNode;
}

/** A body, its signature, and its response. */
export function CallbackForm(props: CallbackFormProps) {
  const { body, onBody, hint, warning, send, isReady = true, children, renew } = props;
  const [sign, setSign] = useState<Sending["sign"]>("right");
  return (
    <div className="sandbox-form">
      <Stack>
        <div className="sandbox-fields">
          {children}
          <NativeSelect
            label="Signature"
            data={SIGNATURES}
            onChange={({ currentTarget }) =>
              setSign(SIGNATURES.find(({ value }) => value === currentTarget.value)?.value ?? "right")
            }
          />
        </div>
        <Textarea
          label="Body, as it is signed and sent"
          description={hint}
          value={body}
          onChange={({ currentTarget }) => onBody(currentTarget.value)}
          autosize
          minRows={6}
          maxRows={24}
          // While typing: a line that appeared on blur would move the button from under the pointer.
          error={warning}
          autoComplete="off"
          data-monospace
        />
        <Group>
          <Button loading={send.isPending} disabled={!isReady} onClick={() => send.mutate({ body, sign })}>
            Send
          </Button>
          {renew}
        </Group>
      </Stack>
      <div className="sandbox-response">
        {send.isIdle && <h3>Response</h3>}
        {send.isError && <Problem error={send.error} title="It could not be sent" />}
        {send.data !== undefined && <SandboxResult result={send.data} />}
        {send.isIdle && <p className="sandbox-empty">The response will be here.</p>}
      </div>
    </div>
  );
}

/** The sent request, its signature masked, and the response. */
function SandboxResult({ result: { request, response, duration_ms } }: { readonly result: SandboxResultView }) {
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

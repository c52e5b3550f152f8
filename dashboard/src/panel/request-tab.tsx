import type { CallbackView } from "oncehook/admin-client";
import { Facts } from "../parts/facts.tsx";
import { TextBlock } from "../parts/text-block.tsx";
import { authenticityOf } from "./authenticity.ts";
import { MASKED, Masked } from "./masked.tsx";
import { CurlNote } from "./panel-copies.tsx";

/** Headers that say something of the transport only; they are folded. */
const NOISY =
  /^(?:accept(?:-.*)?|connection|content-length|host|cache-control|pragma|sec-.*|priority|x-forwarded-.*|x-real-ip|via|cf-.*|x-amzn-.*|traceparent|tracestate|te|upgrade-.*|dnt|keep-alive)$/;

const shown = ([name, value]: readonly [string, string]) =>
  [name, value === MASKED ? <Masked key={name} /> : value] as const;

/** The request as it was received, its secrets masked. */
export function RequestTab({ callback }: { readonly callback: CallbackView }) {
  const { method, url, headers, remote_address, request_id } = callback;
  const all = Object.entries(headers);
  const noisy = all.filter(([name]) => NOISY.test(name.toLowerCase()));
  return (
    <>
      <TextBlock label="Method and address" text={`${method} ${url}`} />
      <h3>Sender</h3>
      <Facts
        of={[
          ["Signature", authenticityOf(callback)],
          ["IP address", remote_address],
          ["Request id", <code key="id">{request_id}</code>],
        ]}
      />
      <h3>Headers</h3>
      <Facts of={all.filter(([name]) => !NOISY.test(name.toLowerCase())).map(shown)} />
      {noisy.length > 0 && (
        <details>
          <summary>{noisy.length} more headers</summary>
          <Facts of={noisy.map(shown)} />
        </details>
      )}
      <CurlNote callback={callback} />
    </>
  );
}

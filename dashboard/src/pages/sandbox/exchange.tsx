import type { SandboxExchangeView } from "oncehook/admin-client";
import { Facts } from "../../parts/facts.tsx";
import { milliseconds } from "../../parts/milliseconds.ts";
import { TextBlock } from "../../parts/text-block.tsx";

/** What was sent over the wire, its signature masked, and what came back. */
export function Exchange({
  exchange: { request, response, took_ms },
}: {
  readonly exchange: SandboxExchangeView;
}) {
  return (
    <section aria-label="What was sent and answered">
      <div role="status">
        <h3>
          Answered {response.status} in {milliseconds(took_ms)}
        </h3>
      </div>
      <TextBlock label="Body of the answer" text={response.body} />
      <details>
        <summary>The request and all headers</summary>
        <h4>
          {request.method} {request.url}
        </h4>
        <Facts of={Object.entries(request.headers)} />
        <h4>Headers of the answer</h4>
        <Facts of={Object.entries(response.headers)} />
      </details>
    </section>
  );
}

import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CallbackView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { asCurl, whyNoCurl } from "./as-curl.ts";

/** Where a receiver is in development, when nothing says otherwise. */
const LOCAL = "http://127.0.0.1:8080";

/** The request as it was received and the answer that it got. */
export function CallbackRequest({ callback }: { readonly callback: CallbackView }) {
  const { method, url, headers, body, response_status, response_body } = callback;
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const registered = data?.items[0]?.addresses[0]?.url;
  const origin = registered === undefined ? LOCAL : new URL(registered).origin;
  const why = data === undefined ? undefined : whyNoCurl(callback, data.items);
  const sender = data?.items.find(({ source }) => source === callback.source);
  const canCurl = data !== undefined && why === undefined;
  return (
    <>
      <section aria-labelledby="request">
        <h2 id="request">Request</h2>
        <TextBlock label="Method and address" text={`${method} ${url}`} />
        <h3>Headers</h3>
        <Facts of={Object.entries(headers)} />
        <h3>Body</h3>
        <TextBlock label="Body of the request" text={body} />
        <Group mt="sm">
          <Copy text={body} what="the body" />
          {canCurl && <Copy text={asCurl(callback, origin)} what="as curl" />}
        </Group>
        {canCurl && (
          <p>
            The copied command signs the body with <code>oncehook sign</code>, where it is run. What is masked
            here is masked there too: put the values back that the handler needs.
            {(sender?.authentication.length ?? 0) > 1 &&
              ` Callbacks are authenticated by ${sender?.authenticated_by}: add what is needed beside the signature.`}
          </p>
        )}
        {why !== undefined && <p>{why}</p>}
      </section>
      <section aria-labelledby="answer">
        <h2 id="answer">Answer {response_status}</h2>
        <TextBlock label="Body of the answer" text={response_body} />
      </section>
    </>
  );
}

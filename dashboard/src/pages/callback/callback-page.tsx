import { Alert, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CallbackView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import type { Diagnosis } from "../../views.ts";
import { asCurl, curlUnavailableReason } from "./as-curl.ts";
import { authenticityOf } from "./authenticity.ts";

const route = getRouteApi("/inside/callbacks/$id");

export function CallbackPage() {
  const { id } = route.useParams();
  const query = useQuery({ queryKey: ["callback", id], queryFn: () => api.callbacks.get(Number(id)) });
  if (query.isPending) return <Loading what="the callback" />;
  const { data } = query;
  return (
    <>
      <PageTitle
        title={`Callback ${id}`}
        description="One request as it was received, its secrets masked, and its response."
      />
      {query.isError && (
        <Problem error={query.error} title="The callback could not be read" again={() => void query.refetch()} />
      )}
      {data !== undefined && (
        <Stack gap="xl">
          <CallbackFacts callback={data} />
          <CallbackRequest callback={data} />
        </Stack>
      )}
    </>
  );
}

function CallbackFacts({ callback }: { readonly callback: CallbackView }) {
  const { outcome, response_status, source, event_id, event_type, error, diagnosis } = callback;
  return (
    <section aria-label="Summary">
      <Facts
        of={[
          ["Outcome", <OutcomeBadge key="outcome" outcome={outcome} status={response_status} />],
          ["Signature", authenticityOf(callback)],
          ["Time", <Time key="time" at={callback.timestamp} relative />],
          ["Duration", milliseconds(callback.processing_ms)],
          ["Source", source],
          ["Event type", event_type],
          [
            "Event",
            source !== null && event_id !== null ? (
              <PageLink key="event" to="/events/$source/$event_id" params={{ source, event_id }}>
                {event_id}, with all of its deliveries and attempts
              </PageLink>
            ) : null,
          ],
          ["IP address", callback.remote_address],
          ["Request id", callback.request_id],
        ]}
      />
      {diagnosis !== undefined && diagnosis !== null && <DiagnosisBox diagnosis={diagnosis} />}
      {error !== null && (
        <>
          <h2>Error</h2>
          <TextBlock label="The error with its stack" text={error} />
        </>
      )}
    </section>
  );
}

/** Why the signature did not verify, and what to do. */
function DiagnosisBox({ diagnosis }: { readonly diagnosis: Diagnosis }) {
  return (
    <Alert color="orange" title="Why it was rejected" my="md">
      <Text size="sm">{diagnosis.message}</Text>
      <Text size="sm" mt="xs">
        {diagnosis.remedy}
      </Text>
    </Alert>
  );
}

/** The default origin of a receiver in development. */
const LOCAL = "http://127.0.0.1:8080";

/** The request as it was received, and its response. */
function CallbackRequest({ callback }: { readonly callback: CallbackView }) {
  const { method, url, headers, body, response_status, response_body } = callback;
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const registered = data?.items[0]?.addresses[0]?.url;
  const origin = registered === undefined ? LOCAL : new URL(registered).origin;
  const why = data === undefined ? undefined : curlUnavailableReason(callback, data.items);
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
        <TextBlock label="Request body" text={body} />
        <Group mt="sm">
          <Copy text={body} what="the body" />
          {canCurl && <Copy text={asCurl(callback, origin)} what="as curl" />}
        </Group>
        {canCurl && (
          <p>
            The copied command signs the body with <code>oncehook sign</code>, where it is run. What is masked here is
            masked there too: put the values back that the handler needs.
            {(sender?.authentication.length ?? 0) > 1 &&
              ` Callbacks are authenticated by ${sender?.authenticated_by}: add what is needed beside the signature.`}
          </p>
        )}
        {why !== undefined && <p>{why}</p>}
      </section>
      <section aria-labelledby="response">
        <h2 id="response">Response {response_status}</h2>
        <TextBlock label="Response body" text={response_body} />
      </section>
    </>
  );
}

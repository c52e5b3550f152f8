import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { SourcesView } from "oncehook/admin-client";
import { api, slowApi } from "../../client.ts";
import { Copy } from "../../parts/copy.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { useMayChange } from "../../session.ts";
import type { HandlerView, SourceView } from "../../views.ts";
import { SourceActivity, SourceFacts } from "./source-facts.tsx";
import { TenantSecrets } from "./tenant-secrets.tsx";

export function SourcesPage() {
  const sources = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  return (
    <>
      <PageTitle title="Sources and handlers" description="Endpoint URLs, secrets, and handlers." />
      {sources.isPending && <Loading what="the sources" />}
      {sources.isError && (
        <Problem error={sources.error} title="The sources could not be read" again={() => void sources.refetch()} />
      )}
      {sources.data !== undefined && <SourcesContent sources={sources.data} />}
    </>
  );
}

function SourcesContent({ sources: { items, oauth, handlers } }: { readonly sources: SourcesView }) {
  return (
    <Stack gap="xl">
      {items.map((source) => (
        <SourceSection key={source.source} source={source} />
      ))}
      {oauth !== null && <OAuthSection oauth={oauth} />}
      <HandlerSection handlers={handlers} />
    </Stack>
  );
}

type Authentication = SourceView["authentication"][number];
type Secret = Authentication["secrets"][number] & Pick<Authentication, "method" | "header">;

const SECRETS: readonly Column<Secret>[] = [
  { head: "Secret", cell: ({ name, is_previous }) => `${name}${is_previous ? " (previous)" : ""}` },
  { head: "Method", cell: ({ method, header }) => `${method}, in ${header}` },
  {
    head: "Last used",
    cell: ({ last_used_at, advice }) => (
      <>
        {last_used_at === null ? "not yet" : <Time at={last_used_at} relative />}
        {advice !== null && <Text size="sm">{advice}</Text>}
      </>
    ),
  },
];

const OFFERED: readonly Column<SourceView["offered_secrets"][number]>[] = [
  { head: "Fingerprint", cell: ({ fingerprint }) => <code>{fingerprint}</code> },
  { head: "IP address", cell: ({ address }) => address },
  { head: "Times", cell: ({ count }) => count },
  { head: "First", cell: ({ first_at }) => <Time at={first_at} /> },
  { head: "Last", cell: ({ last_at }) => <Time at={last_at} relative /> },
  { head: "Verifies", cell: ({ verifies }) => (verifies ? "yes" : "no") },
];

function SourceSection({ source: described }: { readonly source: SourceView }) {
  const { source, about, addresses, authenticated_by, authentication } = described;
  const heading = about === null ? `Built-in protocol (${source})` : `Source ${source}`;
  const secrets = authentication.flatMap(({ method, header, secrets }) =>
    secrets.map((secret) => ({ ...secret, method, header })),
  );
  return (
    <Stack component="section" gap="sm" aria-label={heading}>
      <h2>{heading}</h2>
      <SourceFacts source={described} />
      <SourceActivity source={described} />
      <h3>Endpoint URLs (register exactly)</h3>
      {addresses.map(({ url, version, method, event_types }) => (
        <div key={url}>
          <Group gap="sm">
            <code>{url}</code>
            <Copy text={url} what="the address" />
          </Group>
          <Text size="sm" c="dimmed">
            {method}, {version === "by_header" ? "X-API-Version chooses the version" : version}:{" "}
            {event_types.join(", ")}
          </Text>
        </div>
      ))}
      <EndpointCheck source={source} what={`endpoints of ${source}`} />
      <h3>How callbacks are authenticated</h3>
      <Text>{authenticated_by}</Text>
      {secrets.length > 0 && (
        <Rows
          caption={`Secrets of ${source}`}
          columns={SECRETS}
          rows={secrets}
          keyOf={({ name, method }) => name + method}
        />
      )}
      {described.offered_secrets.length > 0 && (
        <Rows
          caption={`Secrets that were sent to ${source} in the last day`}
          columns={OFFERED}
          rows={described.offered_secrets}
          keyOf={({ fingerprint }) => fingerprint}
        />
      )}
      {described.has_tenant_secrets && <TenantSecrets source={source} />}
    </Stack>
  );
}

interface Props {
  readonly source: string;
  /** Its addresses, as "they are"; the button says "Check {what}". */
  readonly what: string;
}

/** Checks whether requests to the registered addresses arrive at this receiver. */
export function EndpointCheck({ source, what }: Props) {
  const check = useMutation({ mutationFn: () => slowApi.sources.check(source) });
  if (!useMayChange()) return null;
  return (
    <div>
      <Button variant="default" size="compact-md" loading={check.isPending} onClick={() => check.mutate()}>
        Check {what}
      </Button>
      <div role="status">
        {check.data?.addresses.map(({ url, reached, message, warning, duration_ms }) => (
          <Text key={url} size="sm" mt="xs">
            <strong>{reached ? "Reached" : "Not reached"}</strong>: {url} ({milliseconds(duration_ms)}). {message}{" "}
            {warning}
          </Text>
        ))}
      </div>
      {check.isError && <Problem error={check.error} title="It could not be checked" />}
    </div>
  );
}

/** The addresses to register with the authorization server. */
function OAuthSection({ oauth }: { readonly oauth: NonNullable<SourcesView["oauth"]> }) {
  const { redirect_uri, start_url } = oauth;
  return (
    <Stack component="section" gap="xs" aria-labelledby="oauth">
      <h2 id="oauth">OAuth redirect</h2>
      <Text>Redirect URL (register exactly):</Text>
      <Group gap="sm">
        <code>{redirect_uri}</code>
        <Copy text={redirect_uri} what="the redirect address" />
      </Group>
      <EndpointCheck source="oauth" what="endpoint" />
      <Text size="sm" c="dimmed">
        {start_url === null ? "No flow starts here: your platform begins them." : `A flow starts at ${start_url}`}
      </Text>
    </Stack>
  );
}

const KEY_COLUMNS: readonly Column<HandlerView>[] = [
  { head: "Source", cell: ({ source }) => source },
  { head: "Event type", cell: ({ event_type }) => event_type },
];
/** Of several handlers of one type; mostly there are none, and no column. */
const NAME: Column<HandlerView> = { head: "Name", cell: ({ name }) => name ?? "–" };
const COLUMNS: readonly Column<HandlerView>[] = [
  { head: "Versions", cell: ({ versions }) => versions.join(", ") },
  { head: "prepare step", cell: ({ has_prepare }) => (has_prepare ? "yes" : "no") },
  { head: "Time limit", cell: ({ time_limit_ms }) => milliseconds(time_limit_ms) },
];

/** The handlers by type; each source shows how it treats other types. */
function HandlerSection({ handlers }: { readonly handlers: readonly HandlerView[] }) {
  const hasNames = handlers.some(({ name }) => name !== null);
  return (
    <Stack component="section" gap="xs" aria-labelledby="handlers">
      <h2 id="handlers">Handlers</h2>
      {handlers.length === 0 ? (
        <EmptyState>
          There is no handler: HANDLERS switches the built-in ones on, oncehook.config.ts names your own.
        </EmptyState>
      ) : (
        <Rows
          caption="Handlers"
          columns={[...KEY_COLUMNS, ...(hasNames ? [NAME] : []), ...COLUMNS]}
          rows={handlers}
          keyOf={({ source, event_type, name }) => `${source} ${event_type} ${name ?? ""}`}
        />
      )}
    </Stack>
  );
}

import { Button, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, isStatus, slowApi } from "../../client.ts";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { milliseconds } from "../../parts/time.tsx";
import { sandboxSearch } from "../../search.ts";
import { useMayChange } from "../../session.ts";
import { Composer } from "./composer.tsx";

const route = getRouteApi("/inside/sandbox");

export function SandboxPage() {
  const { source } = sandboxSearch(route.useSearch());
  const sandbox = useQuery({ queryKey: ["sandbox"], queryFn: api.sandbox.get });
  const mayChange = useMayChange();
  const isAbsent = isStatus(sandbox.error, 404);
  return (
    <>
      <PageTitle
        title="Sandbox"
        description="Compose a callback, sign it, send it as its platform would, and see the response."
      />
      {sandbox.isPending && <Loading what="the sandbox" />}
      {isAbsent && <EmptyState>There is no sandbox here: it exists only outside production.</EmptyState>}
      {sandbox.isError && !isAbsent && (
        <Problem error={sandbox.error} title="The sandbox could not be read" again={() => void sandbox.refetch()} />
      )}
      {sandbox.data !== undefined && !mayChange && <EmptyState>To send callbacks, sign in as an operator.</EmptyState>}
      {sandbox.data !== undefined && mayChange && (
        <Stack gap="xl">
          <Composer key={source} chosen={source} events={sandbox.data.events} sources={sandbox.data.sources} />
          <OAuthFlow />
        </Stack>
      )}
    </>
  );
}

/** Walks the OAuth flow as a browser would, with the sandbox platform as the other side. */
function OAuthFlow() {
  const walk = useMutation({ mutationFn: slowApi.sandbox.runOAuthFlow });
  return (
    <Stack component="section" aria-labelledby="walk">
      <h2 id="walk">The OAuth flow</h2>
      <Text>Starts a flow, grants access at the sandbox platform, and follows the redirect back to the receiver.</Text>
      <div>
        <Button variant="default" loading={walk.isPending} onClick={() => walk.mutate()}>
          Run OAuth flow
        </Button>
      </div>
      {walk.isError && <Problem error={walk.error} title="The flow could not be run" />}
      {walk.data !== undefined && (
        <ol className="moments" aria-label={walk.data.signed_in ? "It signed in" : "It did not sign in"}>
          {walk.data.steps.map(({ method, url, status, message, body, duration_ms }) => (
            <li key={url}>
              <Text fw={600}>{message}</Text>
              <Text size="sm">
                {method} {url}: {status}, {milliseconds(duration_ms)}
              </Text>
              {body !== "" && <TextBlock label="Response" text={body} />}
            </li>
          ))}
        </ol>
      )}
    </Stack>
  );
}

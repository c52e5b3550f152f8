import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SourcesView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { HandlerSection } from "./handler-section.tsx";
import { OAuthSection } from "./oauth-section.tsx";
import { SourceSection } from "./source-section.tsx";

export function SourcesPage() {
  const sources = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  return (
    <>
      <PageTitle
        title="Sources and handlers"
        says="What to register with the platform, which secret still verifies, and what handles which type."
      />
      {sources.isPending && <Loading what="the sources" />}
      {sources.isError && (
        <Problem
          error={sources.error}
          title="The sources could not be read"
          again={() => void sources.refetch()}
        />
      )}
      {sources.isSuccess && <Everything sources={sources.data} />}
    </>
  );
}

function Everything({ sources: { items, oauth, handlers } }: { readonly sources: SourcesView }) {
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

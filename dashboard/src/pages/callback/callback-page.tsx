import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { CallbackFacts } from "./callback-facts.tsx";
import { CallbackRequest } from "./callback-request.tsx";

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
        says="One request as it was received, its secrets masked, and what was answered."
      />
      {query.isError && (
        <Problem
          error={query.error}
          title="The callback could not be read"
          again={() => void query.refetch()}
        />
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

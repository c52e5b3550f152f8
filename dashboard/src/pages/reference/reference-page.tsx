import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { describeApi } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type Description, operationsOf } from "./description.ts";
import { OperationDetails } from "./operation-details.tsx";
import { Properties } from "./properties.tsx";

export function ReferencePage() {
  const reference = useQuery({
    queryKey: ["description"],
    queryFn: async () => (await describeApi()) as Description,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <PageTitle
        title="API reference"
        says="The admin API as this receiver describes it; everything on these pages comes from it."
      />
      {reference.isPending && <Loading what="the description" />}
      {reference.isError && (
        <Problem
          error={reference.error}
          title="The description could not be read"
          again={() => void reference.refetch()}
        />
      )}
      {reference.data !== undefined && <Reference description={reference.data} />}
    </>
  );
}

function Reference({ description }: { readonly description: Description }) {
  const { info, components } = description;
  const shapes = Object.entries(components?.schemas ?? {});
  return (
    <Stack gap="xl">
      <Text>
        {info.title} {info.version}. {info.description} <a href="/api/v1/openapi.json">openapi.json</a>
      </Text>
      <section aria-labelledby="operations">
        <h2 id="operations">Operations</h2>
        {operationsOf(description).map((listed) => (
          <OperationDetails key={listed.method + listed.path} listed={listed} />
        ))}
      </section>
      <section aria-labelledby="shapes">
        <h2 id="shapes">Shapes</h2>
        {shapes.map(([name, schema]) => (
          <details key={name} id={`shape-${name}`}>
            <summary>{name}</summary>
            {schema.description !== undefined && <Text>{schema.description}</Text>}
            <Properties caption={`Fields of ${name}`} schema={schema} />
          </details>
        ))}
      </section>
    </Stack>
  );
}

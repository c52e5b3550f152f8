import { Code, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { describeApi } from "../../client.ts";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Rows } from "../../parts/rows.tsx";
import { type Description, type Listed, operationsOf, type Schema, schemaOf, wordsFor } from "./openapi.ts";

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
        description="The admin API as this receiver describes it; everything on these pages comes from it."
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
      <section aria-labelledby="schemas">
        <h2 id="schemas">Schemas</h2>
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

/** One operation: what it takes and what it returns. */
function OperationDetails({ listed: { method, path, operation } }: { readonly listed: Listed }) {
  const { summary, description, parameters = [], requestBody, responses = {} } = operation;
  const body = requestBody === undefined ? undefined : schemaOf(requestBody);
  const named = `${method} ${path}`;
  return (
    <details>
      <summary>
        <Code>{named}</Code> {summary}
      </summary>
      {description !== undefined && <Text>{description}</Text>}
      {parameters.length > 0 && (
        <Rows
          caption={`Parameters of ${named}`}
          columns={[
            { head: "Parameter", cell: ({ name }) => <code>{name}</code> },
            { head: "In", cell: (parameter) => parameter.in },
            { head: "Type", cell: ({ schema }) => wordsFor(schema) },
            {
              head: "Meaning",
              cell: (parameter) => parameter.description ?? parameter.schema?.description ?? "",
            },
          ]}
          rows={parameters}
          keyOf={(parameter) => parameter.in + parameter.name}
        />
      )}
      {body !== undefined && <Properties caption={`Body of ${named}`} schema={body} />}
      <Rows
        caption={`Responses of ${named}`}
        columns={[
          { head: "Status", cell: ([status]) => status },
          { head: "Meaning", cell: ([, response]) => response.description ?? "" },
          {
            head: "Schema",
            cell: ([, response]) => (response.content === undefined ? "–" : pageOrShape(response)),
          },
        ]}
        rows={Object.entries(responses)}
        keyOf={([status]) => status}
      />
    </details>
  );
}

function pageOrShape(response: Parameters<typeof schemaOf>[0]): string {
  const schema = schemaOf(response);
  const items = schema?.properties?.items;
  return items === undefined ? wordsFor(schema) : `a page: ${wordsFor(items)}`;
}

interface Props {
  readonly caption: string;
  readonly schema: Schema;
}

/** The fields of a shape. */
function Properties({ caption, schema }: Props) {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => ({ name, property }));
  if (rows.length === 0) return <p>{wordsFor(schema)}</p>;
  return (
    <Rows
      caption={caption}
      columns={[
        { head: "Field", cell: ({ name }) => <code>{name}</code> },
        {
          head: "Type",
          cell: ({ name, property }) => `${wordsFor(property)}${required.has(name) ? "" : ", or left out"}`,
        },
        { head: "Meaning", cell: ({ property }) => property.description ?? "" },
      ]}
      rows={rows}
      keyOf={({ name }) => name}
    />
  );
}

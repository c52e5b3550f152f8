import { Code, Text } from "@mantine/core";
import { Rows } from "../../parts/rows.tsx";
import { type Listed, schemaOf, wordsFor } from "./description.ts";
import { Properties } from "./properties.tsx";

/** One operation: what it takes and what it answers. */
export function OperationDetails({ listed: { method, path, operation } }: { readonly listed: Listed }) {
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
        caption={`Answers of ${named}`}
        columns={[
          { head: "Status", cell: ([status]) => status },
          { head: "Meaning", cell: ([, answer]) => answer.description ?? "" },
          { head: "Shape", cell: ([, answer]) => (answer.content === undefined ? "–" : pageOrShape(answer)) },
        ]}
        rows={Object.entries(responses)}
        keyOf={([status]) => status}
      />
    </details>
  );
}

function pageOrShape(answer: Parameters<typeof schemaOf>[0]): string {
  const schema = schemaOf(answer);
  const items = schema?.properties?.items;
  return items === undefined ? wordsFor(schema) : `a page: ${wordsFor(items)}`;
}

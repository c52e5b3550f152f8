import { Rows } from "../../parts/rows.tsx";
import { type Schema, wordsFor } from "./description.ts";

interface Props {
  readonly caption: string;
  readonly schema: Schema;
}

/** The fields of a shape. */
export function Properties({ caption, schema }: Props) {
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

import type { ReactNode } from "react";

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
}

interface Props<Row> {
  /** The content of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Rows that have just arrived are marked for a moment. */
  readonly isNew?: (row: Row) => boolean;
}

/** A table; on a narrow screen each row becomes a block of lines. */
export function Rows<Row>({ caption, columns, rows, keyOf, isNew }: Props<Row>) {
  return (
    <table className="rows">
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head }) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={isNew?.(row) === true ? "new-row" : ""}>
            {columns.map(({ head, cell }) => (
              <td key={head} data-head={head}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

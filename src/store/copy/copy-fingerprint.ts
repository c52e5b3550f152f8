import type pg from "pg";
import { type CopyPair, type Fingerprint, quoted, type SourceRow, type TargetColumn, toPostgresText } from "./copy.ts";

/** The values that `textsOf` gives to a statement, in the columns `c0`, `c1` and so on. */
export function tableOfTexts(columns: readonly TargetColumn[]): string {
  const given = columns.map((_column, index) => `$${index + 1}::text[]`).join(", ");
  return `unnest(${given}) AS given (${columns.map((_column, index) => `c${index}`).join(", ")})`;
}

export function textsOf(rows: readonly SourceRow[], columns: readonly TargetColumn[]): (string | null)[][] {
  return columns.map((column, index) => rows.map(({ values }) => toPostgresText(values[index] ?? null, column)));
}

/** A value in a form in which equal ones have one text; no limit of a column cuts anything off. */
function comparable(value: string, { kind, unlimited }: TargetColumn): string {
  if (kind === "numeric") return `trim_scale(${value}::numeric)`;
  if (kind === "json") return `${value}::jsonb`;
  return kind === "bpchar" ? `rtrim(${value}::text)` : `${value}::${unlimited}`;
}

/** Rows add up to the sum of parts of their SHA-256 digests: a row that is there twice counts twice. */
async function sumOf(client: pg.ClientBase, rows: string, values: unknown[] = []): Promise<Fingerprint> {
  const digest = "encode(sha256(convert_to(r::text, 'UTF8')), 'hex')";
  const { rows: sums } = await client.query<{ rows: string; digest: string }>(
    `SELECT count(*) AS rows, coalesce(sum(('x' || left(${digest}, 16))::bit(64)::bigint), 0) AS digest FROM (${rows}) AS r`,
    values,
  );
  return { rows: Number(sums[0]?.rows), digest: BigInt(sums[0]?.digest ?? 0) };
}

export function fingerprintOfTarget(client: pg.ClientBase, { to, toColumns }: CopyPair): Promise<Fingerprint> {
  const columns = toColumns.map((column) => comparable(quoted(column.name), column)).join(", ");
  return sumOf(client, `SELECT ${columns} FROM ${quoted(to)}`);
}

/** By the target's own types: it knows which spellings are one value. */
export async function fingerprintOfSource(
  client: pg.ClientBase,
  { toColumns }: CopyPair,
  batches: Iterable<readonly SourceRow[]>,
): Promise<Fingerprint> {
  const columns = toColumns.map((column, index) => comparable(`c${index}`, column)).join(", ");
  const text = `SELECT ${columns} FROM ${tableOfTexts(toColumns)}`;
  const total = { rows: 0, digest: 0n };
  for (const batch of batches) {
    const { rows, digest } = await sumOf(client, text, textsOf(batch, toColumns));
    total.rows += rows;
    total.digest += digest;
  }
  return total;
}

import type pg from "pg";
import { type CopyPair, type Fingerprint, FingerprintSum, quoted } from "../copy.ts";
import { MaintenanceError } from "../store-errors.ts";

const FETCH = { first: 50, most: 2_000, bytes: 8 * 1_024 * 1_024 };
const DIFFERENT = "these tables do not hold what the source holds";
const START_AGAIN =
  "Either the source was used between two runs of this command, or something else wrote to the target. No receiver " +
  "starts on the target as it is: drop that database, create it again, and copy again with every receiver stopped";

/** @throws MaintenanceError where a table of the target differs from its source */
export async function compareTables(
  client: pg.ClientBase,
  pairs: readonly CopyPair[],
  expected: (pair: CopyPair) => Fingerprint,
): Promise<readonly Fingerprint[]> {
  const found: Fingerprint[] = [];
  const wrong: string[] = [];
  for (const pair of pairs) {
    const source = expected(pair);
    const target = await fingerprintOf(client, pair);
    found.push(target);
    // biome-ignore lint/plugin: the digests of two copies of a table are no secrets.
    if (source.digest !== target.digest || source.rows !== target.rows)
      wrong.push(`"${pair.to}" (${source.rows} rows in the source, ${target.rows} in the target)`);
  }
  if (wrong.length > 0) throw new MaintenanceError(`${DIFFERENT}: ${wrong.join(", ")}. ${START_AGAIN}`);
  return found;
}

/** Reads a table through a cursor, as many rows at a time as their size allows. */
export async function fingerprintOf(
  client: pg.ClientBase,
  { to, toColumns }: CopyPair,
): Promise<Fingerprint> {
  const texts = toColumns.map(({ name }) => `${quoted(name)}::text`).join(", ");
  await client.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${texts} FROM ${quoted(to)}`);
  const sum = new FingerprintSum();
  let size = FETCH.first;
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `FETCH ${size} FROM copied`,
      rowMode: "array",
    });
    let bytes = 0;
    for (const row of rows) {
      sum.add(row, toColumns);
      for (const text of row) bytes += text?.length ?? 0;
    }
    if (rows.length < size) break;
    size = Math.max(1, Math.min(FETCH.most, Math.floor((FETCH.bytes * rows.length) / Math.max(1, bytes))));
  }
  await client.query("CLOSE copied");
  return sum.result();
}

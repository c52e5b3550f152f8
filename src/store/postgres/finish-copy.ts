import type pg from "pg";
import { CareRefused } from "../care-refused.ts";
import {
  type CopyPair,
  type Fingerprint,
  FingerprintSum,
  ID_REFERENCES,
  UNFINISHED_COPY,
} from "../copying.ts";
import { inPlainTransaction, quoted, storeSetting } from "./plain-session.ts";

/** Settings that each database has for itself. */
const OWN_SETTINGS: ReadonlySet<string> = new Set(["environment", "key_id", UNFINISHED_COPY]);
const FETCH = { first: 50, most: 2_000, bytes: 8 * 1_024 * 1_024 };

/**
 * Compares the tables, sets what continues after them, and removes the mark that keeps receivers away.
 * @throws CareRefused where a table differs
 */
export async function finishCopy(
  client: pg.ClientBase,
  pairs: readonly CopyPair[],
  settings: ReadonlyMap<string, string>,
  expected: (pair: CopyPair) => Fingerprint,
): Promise<readonly Fingerprint[]> {
  const compareAndRelease = async () => {
    const names = pairs.map(({ to }) => quoted(to)).join(", ");
    await client.query(`LOCK TABLE ${names} IN SHARE ROW EXCLUSIVE MODE`);
    const found = await compare(client, pairs, expected);
    await setIds(
      client,
      pairs.map(({ to }) => to),
    );
    for (const [name, value] of settings)
      if (!OWN_SETTINGS.has(name)) await storeSetting(client, name, value);
    await client.query("DELETE FROM oncehook_settings WHERE name = $1", [UNFINISHED_COPY]);
    return found;
  };
  // Without the locks first, the snapshot could be older than another session's last write.
  const found = await inPlainTransaction(client, compareAndRelease, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  // Without statistics the first queries would read whole tables.
  await client.query("ANALYZE");
  return found;
}

/** Compares without a change. Counts come first: they tell nearly every other database apart without reading all of it. */
export async function completedCopy(
  client: pg.ClientBase,
  pairs: readonly CopyPair[],
  expected: (pair: CopyPair) => Fingerprint,
): Promise<readonly Fingerprint[] | undefined> {
  for (const { from, to } of pairs) {
    const { rows } = await client.query(`SELECT count(*)::text AS rows FROM ${quoted(to)}`);
    if (rows[0]?.rows !== String(from.rows)) return undefined;
  }
  return inPlainTransaction(client, async () => {
    const found: Fingerprint[] = [];
    for (const pair of pairs) {
      const target = await fingerprintOf(client, pair);
      // biome-ignore lint/plugin: the digests of two copies of a table are no secrets.
      if (target.digest !== expected(pair).digest) return undefined;
      found.push(target);
    }
    return found;
  });
}

async function compare(
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
  if (wrong.length > 0) throw new CareRefused(`${DIFFERENT}: ${wrong.join(", ")}. ${START_AGAIN}`);
  return found;
}

const DIFFERENT = "these tables do not hold what the source holds";
const START_AGAIN =
  "Either the source was used between two runs of this command, or something else wrote to the target. No receiver " +
  "starts on the target as it is: drop that database, create it anew, and copy again with every receiver stopped";

/** Reads a table through a cursor, as many rows at a time as their size allows. */
async function fingerprintOf(client: pg.ClientBase, { to, toColumns }: CopyPair): Promise<Fingerprint> {
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

/** The ids that the database gives from now on begin after all that were copied, or that a copied row names. */
async function setIds(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ table: string; name: string; sequence: string }>(
    `SELECT * FROM (SELECT c.relname AS table, a.attname AS name, pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
      ) AS columns WHERE sequence IS NOT NULL`,
    [tables],
  );
  for (const { table, name, sequence } of rows) {
    const highest = [[table, name] as const, ...(ID_REFERENCES[table] ?? [])]
      .map(([from, column]) => `(SELECT max(${quoted(column)}) FROM ${quoted(from)})`)
      .join(", ");
    // Null, which tables without rows give, leaves the sequence as it is.
    const ids = `SELECT greatest(${highest}) AS highest`;
    await client.query(`SELECT setval($1::regclass, highest) FROM (${ids}) AS ids WHERE highest > 0`, [
      sequence,
    ]);
  }
}

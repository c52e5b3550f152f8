import type pg from "pg";

/** Every statement of it, or none. */
export async function inPlainTransaction<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
  begin = "BEGIN",
): Promise<T> {
  await client.query(begin);
  try {
    const value = await work();
    await client.query("COMMIT");
    return value;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** A setting of the database, in the place of an earlier value. */
export async function storeSetting(client: pg.ClientBase, name: string, value: string): Promise<void> {
  const text =
    "INSERT INTO oncehook_settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  await client.query(text, [name, value]);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

import { failureContext } from "../../src/pipeline/index.ts";
import { decryptOriginals } from "../../src/store/index.ts";
import { createEncryptor } from "../../src/system/index.ts";
import { rowsOf } from "./effects.ts";
import type { TestReceiver } from "./receiver.ts";

export const ENCRYPTOR = createEncryptor(Buffer.alloc(32, 7));

/** Asks for an erasure, as an operator does. */
export const erase = async (receiver: TestReceiver, body: object, query = "") =>
  receiver.admin(`/api/v1/erasures${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** All rows of Oncehook's tables, with what they have encrypted. */
export async function everything({ target }: TestReceiver): Promise<string> {
  const names =
    target.dialect === "sqlite"
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'oncehook_%'"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'oncehook_%'";
  const texts: string[] = [];
  for (const { name } of await rowsOf(target, names)) {
    const rows = await rowsOf(target, `SELECT * FROM ${String(name)}`);
    texts.push(JSON.stringify(rows));
    for (const row of rows) texts.push(...decrypted(row));
  }
  return texts.join("\n");
}

function decrypted(row: Record<string, unknown>): string[] {
  if (row.encrypted_block !== undefined)
    return decryptOriginals(row.encrypted_block as Uint8Array, ENCRYPTOR).map(
      ({ body, ...head }) => JSON.stringify(head) + Buffer.from(body).toString(),
    );
  if (row.encrypted_body === undefined) return [];
  const context = failureContext({ source: String(row.source), eventId: String(row.event_id) });
  return [Buffer.from(ENCRYPTOR.decrypt(row.encrypted_body as Uint8Array, context)).toString()];
}

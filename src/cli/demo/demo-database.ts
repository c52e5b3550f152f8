import { DatabaseSync } from "node:sqlite";
import type { Line } from "./demo-steps.ts";

const EXPECTED: readonly (readonly [what: string, sql: string, found: number])[] = [
  ["records, one for each event that was handled", "SELECT count(*) AS n FROM oncehook_records", 5],
  ["records still processing", "SELECT count(*) AS n FROM oncehook_records WHERE status = 'processing'", 0],
  ["users, their tokens encrypted", "SELECT count(*) AS n FROM users", 1],
  ["orders paid, each once", "SELECT count(*) AS n FROM orders WHERE status = 'paid'", 2],
  ["notifications to send, one for each order", "SELECT count(*) AS n FROM oncehook_notifications", 2],
  ["messages", "SELECT count(*) AS n FROM messages", 1],
  ["failures left", "SELECT count(*) AS n FROM oncehook_failures", 0],
];

/** Reads the demo's database as anybody could, and holds it against what the callbacks should have left. */
export function stored(file: string): Line[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return EXPECTED.map(([what, sql, expected]) => {
      const found = Number(database.prepare(sql).get()?.n);
      return { what, got: String(found), right: found === expected };
    });
  } finally {
    database.close();
  }
}

import type pg from "pg";
import type { WireStatement } from "../wire/message-writer.ts";
import { prepared } from "../wire/prepared-names.ts";
import { sendBatch } from "../wire/statement.ts";

/** The server's newest function, in a step of an index. */
export const NEWEST_FUNCTION = prepared("SELECT max(oid) FROM pg_proc");
const OWN_FUNCTIONS: WireStatement = {
  text: `SELECT (SELECT max(oid) FROM pg_proc), EXISTS (
      SELECT 1 FROM pg_proc p WHERE p.oid >= 16384 AND NOT EXISTS (
        SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))`,
};

/**
 * Whether the database has functions of its own, beyond PostgreSQL's and those of extensions. Only these, called or as
 * triggers, can leave a setting or a temporary table to the next members.
 */
export class FunctionCheck {
  #newest: string | undefined;
  #hasOwn = false;

  /** @returns whether groups may be optimistic */
  async allowsOptimistic(client: pg.ClientBase): Promise<boolean> {
    if (this.#newest === undefined) {
      const [answer] = await sendBatch(client, [OWN_FUNCTIONS]);
      const [newest, hasOwn] = answer?.rows[0] ?? [];
      this.#newest = newest ?? undefined;
      this.#hasOwn = hasOwn === "t";
    }
    return !this.#hasOwn;
  }

  /** @returns whether a function was created or dropped since the last look; the next group then looks again */
  hasChanged(newest: string | null | undefined): boolean {
    if (newest === this.#newest) return false;
    this.#newest = undefined;
    return true;
  }
}

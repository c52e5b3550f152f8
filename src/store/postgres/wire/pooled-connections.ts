import type pg from "pg";
import { internalsOf } from "./driver.ts";
import type { WireStatement } from "./message-writer.ts";
import { prepared } from "./prepared-names.ts";

/** The start of each transaction on a connection whose session may be another one each time. */
const pooledConnections = new WeakMap<object, { readonly settings: WireStatement; readonly isIdle: () => boolean }>();

/**
 * Takes a pooler between into account: no transaction relies on what an earlier one left in its session. Each begins with
 * the settings, in the same round trip, and parses its statements again.
 */
export function markPooled(client: pg.ClientBase, settings: WireStatement): void {
  const { connection } = internalsOf(client);
  pooledConnections.set(connection, { settings, isIdle: () => client.getTransactionStatus() === "I" });
}

export function isPooled(client: pg.ClientBase): boolean {
  return pooledConnections.has(internalsOf(client).connection);
}

export const RESET_ALL = prepared("RESET ALL");

/** The statements to send, with the settings wherever the session has none. */
export function withSettings(wire: object, statements: readonly WireStatement[]): readonly WireStatement[] {
  const pooled = pooledConnections.get(wire);
  if (pooled === undefined) return statements;
  const { settings, isIdle } = pooled;
  const sent = statements.flatMap((statement) => {
    // Another session may know the name by another process, or not at all.
    const unnamed = { ...statement, name: "" };
    return statement.text === RESET_ALL.text ? [unnamed, settings] : [unnamed];
  });
  // A BEGIN behind them is of their transaction, which the server has started already.
  return isIdle() ? [settings, ...sent] : sent;
}

export function settingsOf(wire: object): WireStatement | undefined {
  return pooledConnections.get(wire)?.settings;
}

import pg from "pg";
import { withTimeout } from "../../../system/index.ts";
import type { Connection } from "../../connection-settings.ts";
import type { QualifiedNames } from "../../qualified-names.ts";
import { type Deadline, OutOfTime } from "../../retry-until.ts";
import { StoreError } from "../../store-errors.ts";
import { ConnectionLost, NoConnection } from "./database-errors.ts";
import { clientConfig, type SessionSettings } from "./first-connection.ts";
import type { WireStatement } from "./message-writer.ts";
import { shareQualifiedNames } from "./names-of-connection.ts";
import { isPooled, markPooled } from "./pooled-connections.ts";
import { PreparedNames, shareNames } from "./prepared-names.ts";
import { mustBeReplaced, responseTimeout, sendBatch, setResponseTimeout } from "./statement.ts";
import { forgetPreparedNames } from "./statement-batch.ts";

export interface PoolOptions {
  readonly connection: Connection;
  /** The settings that every session begins with, and goes back to; a role's settings come second to it. */
  readonly settings?: SessionSettings;
  /** Whether a pooler gives each transaction another session, which refuses settings or loses them. */
  readonly isPooled?: boolean;
  /** Of the texts that its connections keep parsed; its own when left out. */
  readonly preparedNames?: PreparedNames;
  /** Of the tables in its statements; those of the search path when left out. */
  readonly qualified?: QualifiedNames;
  readonly size: number;
  /** Above the handler's time limit a statement can only be a runaway. */
  readonly statementTimeoutMs: number;
  /** The longest single wait for a row lock or a free connection, after which the attempt repeats. */
  readonly lockTimeoutMs: number;
  /** Whether a batch may take as long as the server allows its statements together; otherwise, as long as one. */
  readonly isForGroups?: boolean;
}

/** A busy server may take this long to accept a connection; requests have their own deadlines. */
const CONNECT_MS = 2_000;

export function createPool(options: PoolOptions): pg.Pool {
  const { connection, settings = {}, isPooled: behindPooler = false, size, isForGroups = false } = options;
  const { statementTimeoutMs, lockTimeoutMs, preparedNames = new PreparedNames(), qualified } = options;
  const timeouts = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: responseTimeout(statementTimeoutMs),
  };
  const pool = new pg.Pool({
    ...(behindPooler ? clientConfig(connection, {}) : { ...clientConfig(connection, settings), ...timeouts }),
    max: size,
    application_name: "oncehook",
    connectionTimeoutMillis: Math.max(lockTimeoutMs, CONNECT_MS),
    query_timeout: responseTimeout(statementTimeoutMs),
    keepAlive: true,
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on("error", () => {});
  if (qualified !== undefined) shareQualifiedNames(pool, qualified);
  pool.on("connect", (client) => {
    if (qualified !== undefined) shareQualifiedNames(client, qualified);
    if (behindPooler) markPooled(client, setForTransaction({ ...settings, ...timeouts }));
    shareNames(client, preparedNames);
    setResponseTimeout(client, responseTimeout(statementTimeoutMs), isForGroups ? statementTimeoutMs : 0);
    // For as long as it lives: the server may end a session at any moment, also during a transaction.
    client.on("error", () => lostConnections.add(client));
  });
  return pool;
}

/** One statement, so that it costs one execution. */
function setForTransaction(settings: Readonly<Record<string, string | number>>): WireStatement {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${pg.escapeLiteral(String(value))}, true)`,
  );
  return { text: `SELECT ${calls.join(", ")}` };
}

const lostConnections = new WeakSet<object>();

/** Connections on which a handler may have left something for the session: a cursor, a channel, an advisory lock. */
const changedSessions = new WeakSet<object>();

/** Lets the connection go back to its pool only as a new one would be. */
export function resetBeforeReuse(client: pg.ClientBase): void {
  // Behind a pooler no session is kept, and what outlives a transaction is refused.
  if (!isPooled(client)) changedSessions.add(client);
}

const DISCARD_ALL: WireStatement = { text: "DISCARD ALL" };
const RESET_LIMIT_MS = 2_000;

/** After the answer, so that only the pool waits for it. */
async function discardSession(client: pg.PoolClient): Promise<void> {
  changedSessions.delete(client);
  const answers = await sendBatch(client, [DISCARD_ALL], RESET_LIMIT_MS).catch(() => undefined);
  forgetPreparedNames(client);
  client.release(answers === undefined || cannotBeReused(client));
}

function cannotBeReused(client: pg.ClientBase): boolean {
  return lostConnections.has(client) || mustBeReplaced(client) || client.getTransactionStatus() !== "I";
}

/**
 * Runs `use` with a connection. It returns to the pool only when it is idle and intact. A connection in an unknown state is
 * closed, and the server rolls back what was open on it.
 * @throws NoConnection when none could be had; ConnectionLost when it broke during `use`
 */
export async function withClient<T>(pool: pg.Pool, deadline: Deadline, use: (client: pg.PoolClient) => Promise<T>) {
  const client = await connect(pool, deadline);
  try {
    return await use(client);
  } catch (error) {
    // A COMMIT that was cut off may have happened, so its StoreError stays: it must not be tried again.
    throw lostConnections.has(client) && !(error instanceof StoreError)
      ? new ConnectionLost("the connection to PostgreSQL was lost", { cause: error })
      : error;
  } finally {
    if (cannotBeReused(client)) client.release(true);
    else if (changedSessions.has(client)) void discardSession(client);
    else client.release();
  }
}

/** Waits for a free connection no longer than its callers wait for the result. */
async function connect(pool: pg.Pool, deadline: Deadline): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  try {
    const client = await withTimeout(connecting, Math.max(0, deadline - performance.now()), undefined);
    if (client === undefined) throw new OutOfTime("no connection was free until the deadline");
    return client;
  } catch (cause) {
    // One that comes too late goes straight back.
    connecting.then((client) => client.release()).catch(() => {});
    throw new NoConnection("no connection to PostgreSQL could be had", { cause });
  }
}

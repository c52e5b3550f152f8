import pg from "pg";
import type { Deadline } from "../store.ts";
import { StoreFault } from "../store-fault.ts";
import { ConnectionLost, NoConnection } from "./hindrance.ts";
import { isSilent, setSilenceLimit, silenceLimit } from "./statement.ts";

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** Above the handler's time limit a statement can only be a runaway. */
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
}

/** A server that is busy, not away, may take this long to let somebody in; requests have deadlines of their own. */
const CONNECT_MS = 2_000;

export function createPool({ url, size, statementTimeoutMs, lockTimeoutMs }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    application_name: "oncehook",
    connectionTimeoutMillis: Math.max(lockTimeoutMs, CONNECT_MS),
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: silenceLimit(statementTimeoutMs),
    query_timeout: silenceLimit(statementTimeoutMs),
    keepAlive: true,
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    setSilenceLimit(client, silenceLimit(statementTimeoutMs));
    // For as long as it lives: the server may end a session at any moment, also while the pool hands it over.
    client.on("error", () => broken.add(client));
  });
  return pool;
}

/** Connections of which the driver has told that they are lost. */
const broken = new WeakSet<object>();

/**
 * Lends one connection. It goes back to the pool only when it is idle and whole: a connection whose state is not
 * known is closed, and the server rolls back what was open on it.
 * @throws NoConnection when none could be had; ConnectionLost when it broke while lent
 */
export async function withClient<T>(
  pool: pg.Pool,
  deadline: Deadline,
  use: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await connect(pool, deadline);
  try {
    return await use(client);
  } catch (error) {
    // A COMMIT that was cut off is a verdict already: it may have happened, so it must not be tried again.
    throw broken.has(client) && !(error instanceof StoreFault)
      ? new ConnectionLost("the connection to PostgreSQL was lost", { cause: error })
      : error;
  } finally {
    client.release(broken.has(client) || isSilent(client) || client.getTransactionStatus() !== "I");
  }
}

/** Waits for a free connection no longer than anybody waits for what it is for. */
async function connect(pool: pg.Pool, deadline: Deadline): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("no connection was free until the deadline")),
    Math.max(0, deadline - performance.now()),
  );
  try {
    return await Promise.race([connecting, late.promise]);
  } catch (cause) {
    // One that comes too late goes straight back.
    connecting.then((client) => client.release()).catch(() => {});
    throw new NoConnection("no connection to PostgreSQL could be had", { cause });
  } finally {
    clearTimeout(timer);
  }
}

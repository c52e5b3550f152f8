import type pg from "pg";
import { withTimeout } from "../../system/index.ts";
import type { Deadline } from "../retry-until.ts";
import { NoConnection } from "./wire/database-errors.ts";
import { withClient } from "./wire/pool.ts";
import { sendBatch } from "./wire/statement.ts";
import type { StatementResult } from "./wire/statement-batch.ts";

/** So long a server is taken to have the standbys it had. */
const CACHE_MS = 1_000;
const TIMEOUT_MS = 10_000;
const LATE = Symbol("late");

/**
 * A server with synchronous standbys may show a record that is not on them. A COMMIT waits for them. If its session is ended
 * then, it is visible all the same (PostgreSQL manual, 27.2.8.4). A commit of our own that comes after it in the log waits for
 * them in its place. One serves all who have come until it begins.
 */
export class SynchronousStandbys {
  readonly #pool: pg.Pool;
  #next: Promise<void> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #lastCheck: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Resolves when the standbys have all that could be seen before this call. @throws NoConnection at the deadline */
  async confirm(deadline: Deadline): Promise<void> {
    const confirming = this.#confirm();
    if ((await withTimeout(confirming, Math.max(0, deadline - performance.now()), LATE)) !== LATE) return;
    throw new NoConnection("PostgreSQL's synchronous standbys have not confirmed until the deadline");
  }

  async #confirm(): Promise<void> {
    if (!(await this.#exist())) return;
    this.#next ??= this.#start();
    return this.#next;
  }

  async #start(): Promise<void> {
    // The commit under way may confirm a state older than the one just seen.
    await this.#running;
    this.#next = undefined;
    // An empty WAL message: without a write the commit would not wait for the standbys.
    const commit = this.#query("SELECT pg_logical_emit_message(true, 'oncehook', '')");
    this.#running = commit.catch(() => {});
    await commit;
  }

  #exist(): Promise<boolean> {
    const now = performance.now();
    if (this.#lastCheck === undefined || now - this.#lastCheck.at > CACHE_MS) {
      const answer = this.#query("SELECT current_setting('synchronous_standby_names') <> ''").then(
        (found) => found?.rows[0]?.[0] === "t",
      );
      this.#lastCheck = { at: now, answer };
      answer.catch(() => {
        this.#lastCheck = undefined;
      });
    }
    return this.#lastCheck.answer;
  }

  async #query(text: string): Promise<StatementResult | undefined> {
    const until = performance.now() + TIMEOUT_MS;
    const [answer] = await withClient(this.#pool, until, (client) => sendBatch(client, [{ text }]));
    return answer;
  }
}

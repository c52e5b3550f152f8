import type pg from "pg";
import type { Deadline } from "../store.ts";
import { unlessLate } from "../unless-late.ts";
import { NoConnection } from "./hindrance.ts";
import { withClient } from "./pool.ts";

/** So long a server is taken to have the standbys it had. */
const KNOWN_FOR_MS = 1_000;
const PATIENCE_MS = 10_000;
const LATE = Symbol("late");

/**
 * Where a server has synchronous standbys, a record that can be seen may not be on them: a COMMIT that waits for them
 * when its session is ended, or the server restarted, is visible from then on all the same (PostgreSQL manual,
 * 27.2.8.4). A commit of our own that comes after it in the log waits for them in its place. One serves all who have
 * come until it begins.
 */
export class Standbys {
  readonly #pool: pg.Pool;
  #next: Promise<void> | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #asked: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Resolves when the standbys have all that could be seen before this call.
   * @throws NoConnection where they have not until the deadline
   */
  async confirm(deadline: Deadline): Promise<void> {
    const confirming = this.#confirm();
    if ((await unlessLate(confirming, Math.max(0, deadline - performance.now()), LATE)) !== LATE) return;
    throw new NoConnection("PostgreSQL's synchronous standbys have not confirmed until the deadline");
  }

  async #confirm(): Promise<void> {
    if (!(await this.#areThere())) return;
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    // What the one under way confirms may be older than what was just seen.
    await this.#underWay;
    this.#next = undefined;
    // A message in the log that nobody reads: without one the commit would have nothing to wait for.
    const commit = this.#ask("SELECT pg_logical_emit_message(true, 'oncehook', '')");
    this.#underWay = commit.then(
      () => {},
      () => {},
    );
    await commit;
  }

  #areThere(): Promise<boolean> {
    const now = performance.now();
    if (this.#asked === undefined || now - this.#asked.at > KNOWN_FOR_MS) {
      const answer = this.#ask("SELECT current_setting('synchronous_standby_names') <> '' AS found").then(
        ({ rows }) => rows[0]?.found === true,
      );
      this.#asked = { at: now, answer };
      answer.catch(() => {
        this.#asked = undefined;
      });
    }
    return this.#asked.answer;
  }

  #ask(text: string): Promise<pg.QueryResult> {
    return withClient(this.#pool, performance.now() + PATIENCE_MS, (client) => client.query(text));
  }
}

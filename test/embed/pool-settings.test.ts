import pg from "pg";
import { expect, it } from "vitest";
import { createReceiver } from "../../src/embed/index.ts";
import { requestOf, stripeCallback, VARIABLES, withApplication } from "../support/application.ts";
import { withMigrated } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

it("a receiver in an application uses the settings of its pool, and none of its connections", { tags: "full" }, () =>
  withMigrated("postgres", async (target) => {
    const pool = new pg.Pool({ connectionString: target.url });
    const use = async ({ receiver }: { receiver: ReturnType<typeof createReceiver> }) => {
      const answers = await Promise.all([1, 2, 3].map(() => receiver.fetch(requestOf(stripeCallback()))));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const { rows } = await pool.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'oncehook' AND datname = current_database()",
      );
      expect(rows[0]?.n).toBeLessThanOrEqual(3);
    };
    await withApplication(target, use, { database: pool });
    expect(pool.totalCount).toBe(1);
    await pool.end();
    expect(await countOf(target, "oncehook_records")).toBe(3);
  }),
);

it("a client in the place of a pool is refused where the receiver is made, with what to pass", () => {
  const database = new pg.Client() as never;
  expect(() => createReceiver({ handlers: [] }, { database, variables: VARIABLES })).toThrow(
    /database: got a `pg` client.*pass the `pg\.Pool`/,
  );
});

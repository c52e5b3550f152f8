import { expect, it } from "vitest";
import { STEPS } from "../../src/store/migrations/steps.ts";
import { checkDatabase } from "../support/check-database.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, describeFullOnPostgres, withDatabase, withMigrated } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { makeOlder } from "../support/older-database.ts";
import { testConfig } from "../support/receiver.ts";
import { NEWEST } from "../support/schema-steps.ts";
import { shop } from "../support/shop-source.ts";
import { handlerOf, storeTen, withShop } from "../support/stored-events.ts";

const older = STEPS.slice(0, -1).map(({ number }) => number);

describeFullOnPostgres("the database of an earlier version on %s", (dialect) => {
  it.each(older)("doctor and verify read schema %i, and doctor says what the first start applies", (number) =>
    withDatabase(dialect, async (target) => {
      await makeOlder(target, number);
      const config = testConfig(target, {}, { sources: { shop: shop() } });
      const findings = await checkDatabase(config, [], new Date(), [handlerOf()]);
      const steps = STEPS.length - 1 - older.indexOf(number);
      const counted = steps === 1 ? "1 step" : `${steps} steps`;
      const said = `has schema ${number} of ${NEWEST}: the first start applies ${counted}, and checks that need`;
      expect(findings.filter(({ level }) => level === "failure")).toEqual([]);
      const about = findings.filter(({ check }) => check === "database").map(({ message }) => message);
      expect(about).toContainEqual(expect.stringContaining(said));
      expect(findings.filter(({ check }) => check === "handlers")).toHaveLength(number < 27 ? 0 : 1);
      const { invariants } = await checkTarget(target);
      expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
    }),
  );
});

it.each(DIALECTS)(
  "doctor and the start name stored events that a handler with a name has not had, until it has: %s",
  (dialect) =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      // A backfill of the first handler, and a redelivery that the second has run.
      await execute(
        target,
        "INSERT INTO oncehook_backfilled SELECT source, id, received_at FROM events ORDER BY id LIMIT 8",
      );
      await execute(
        target,
        `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
          SELECT 'shop#audit', event_id, event_type, version, status, body_sha256, created_at FROM oncehook_records
          WHERE event_id = 'evt_0'`,
      );
      const handlers = [handlerOf(), handlerOf("audit"), handlerOf("refunds", "refund")];
      const config = testConfig(target, {}, { sources: { shop: shop() } });
      const expected = [
        "stored events of shop order have a handler and have not run (2): oncehook backfill shop --type order",
        "stored events of shop#audit order have a handler and have not run (9): oncehook backfill shop --type order",
      ];
      const findings = await checkDatabase(config, [], new Date(), handlers);
      expect(findings.filter(({ check }) => check === "handlers").map(({ message }) => message)).toEqual(expected);
      await withShop(target, { handlers, retryPollMs: 3_600_000 }, async ({ lines }) => {
        const warned = lines.filter(({ msg }) => String(msg).startsWith("stored events of"));
        expect(warned.map(({ msg }) => msg)).toEqual(expected);
      });
    }),
);

it.each(DIALECTS)("doctor counts the events that were rejected or exhausted: %s", (dialect) =>
  withMigrated(dialect, async (target) => {
    await withShop(target, {}, async () => {});
    const about = async () =>
      (await checkDatabase(testConfig(target), [], new Date())).filter(({ check }) => check === "failures");
    expect(await about()).toEqual([]);
    for (const [id, state] of Object.entries({ a: "rejected", b: "rejected", c: "exhausted", d: "accepted" }))
      await execute(
        target,
        `INSERT INTO oncehook_failures (source, event_id, event_type, version, state, attempts, retries_done, code, error,
          encrypted_body, body_sha256, first_failed_at, last_failed_at) VALUES ('shop', '${id}', 'order', 'v1', '${state}', 1,
          0, 'rejected', '', '', 'ab', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')`,
      );
    expect((await about()).map(({ level, message }) => [level, message])).toEqual([
      ["warning", "1 exhausted: oncehook failures --state exhausted lists them"],
      ["warning", "2 rejected: oncehook failures --state rejected lists them"],
    ]);
  }),
);

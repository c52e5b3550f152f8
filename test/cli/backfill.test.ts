import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import { defineHandler, type Handler } from "../../src/index.ts";
import { type Migration, sqlMigration } from "../../src/store/index.ts";
import { startTestReceiver } from "../../src/testing/index.ts";
import { checkDatabase } from "../support/check-database.ts";
import { checkTarget } from "../support/check-target.ts";
import { runChild } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { KEY } from "../support/configuration.ts";
import {
  databaseFile,
  describeFullOnPostgres,
  fullOnPostgres,
  type Target,
  withDatabase,
  withMigrated,
} from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { withFolder } from "../support/folder.ts";
import { makeOlder } from "../support/older-database.ts";
import { openTarget, STAMP } from "../support/open-target.ts";
import { type TestReceiver, testConfig } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { ALL, backfill, handlerOf, IDS, storeTen, withShop } from "../support/stored-events.ts";
import { until } from "../support/until.ts";

const source = (file: string) => pathToFileURL(join(process.cwd(), file)).href;

/** Whose runs have had an effect, in the order of their ids. */
const ranFor = async (target: Target, keySource = "shop") =>
  (
    await rowsOf(target, `SELECT event_id FROM oncehook_notifications WHERE source = '${keySource}' ORDER BY event_id`)
  ).map(({ event_id }) => event_id);

const replay = (receiver: TestReceiver, path: string) => {
  const headers = { "content-type": "application/json" };
  return receiver.admin(`/api/v1/events/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ reason: "mended" }),
  });
};

/** As the retention job does once their time is over. */
async function deleteRecords(target: Target): Promise<void> {
  const stamp = { ...STAMP, keys: { ...STAMP.keys, acceptNew: true }, changesNothing: true };
  const { store } = await openTarget(target, { stamp });
  const records = new Date(Date.now() + 86_400_000);
  await store.retention.sweep({ callbacks: new Date(0), records, refusedRowsKept: 100, now: new Date() });
  await store.close();
}

describeFullOnPostgres("a backfill on %s", (dialect) => {
  it(
    "a handler added after ten events were stored runs each of them once, beside redeliveries, and another backfill is refused",
    { tags: fullOnPostgres(dialect) },
    () =>
      withMigrated(dialect, async (target) => {
        await storeTen(target);
        const handlers = [handlerOf()];
        await withShop(target, { handlers }, async (receiver) => {
          expect(receiver.lines).toContainEqual(
            expect.objectContaining({
              source: "shop",
              event_type: "order",
              count: 10,
              level: expect.anything(),
            }),
          );
          const redeliver = async () => {
            for (const id of IDS) expect((await deliverToShop(receiver, { id, time: 1_700_000_000 })).status).toBe(200);
          };
          const one = backfill(target, handlers, { perSecond: 5 });
          await until(async () => (await receiver.count("oncehook_backfills")) === 1);
          await expect(backfill(target, handlers)).rejects.toThrow("backfill 1 of shop is running, and takes the same");
          await Promise.all([redeliver(), redeliver()]);
          expect((await one).accepted).toBe(10);
          await until(async () => (await ranFor(target)).length >= 10);
          await redeliver();
          expect(await backfill(target, handlers)).toMatchObject({ accepted: 0, alreadyTaken: 10 });
          expect(await ranFor(target)).toEqual(IDS);
          expect(await receiver.count("oncehook_failures")).toBe(0);
          const payloads = await rowsOf(target, "SELECT DISTINCT payload FROM oncehook_notifications");
          expect(payloads).toEqual([{ payload: JSON.stringify({ by: "none", timestamp: 1_700_000_000 }) }]);
        });
      }),
  );

  it("verify holds and the log is found by event id, before and after a backfilled event has run", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const broken = async () => (await checkTarget(target)).invariants.filter(({ violations }) => violations > 0);
      const handlers = [handlerOf()];
      await backfill(target, handlers);
      expect(await broken()).toEqual([]);
      await withShop(target, { handlers, retryPollMs: 3_600_000 }, async (receiver) => {
        // Its redelivery runs before its retry, and is a second success in the log.
        expect((await deliverToShop(receiver, { id: "evt_1" })).body.status).toBe("success");
        const outcomes = async (path: string) =>
          ((await receiver.admin(path)).body as { items: { outcome: string }[] }).items.map(({ outcome }) => outcome);
        expect(await outcomes("/api/v1/callbacks?event_id=evt_0")).toEqual(["success"]);
        expect(await outcomes("/api/v1/callbacks?event_id=evt_1")).toEqual(["success", "success"]);
        const history = await receiver.admin("/api/v1/events/shop/evt_0");
        expect(JSON.stringify(history.body)).toContain('"outcome":"success"');
      });
      await withShop(target, { handlers }, () => until(async () => (await ranFor(target)).length === 10));
      expect(await broken()).toEqual([]);
    }));

  it("verify holds for a database whose events an earlier version has backfilled", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const handlers = [handlerOf()];
      await backfill(target, handlers);
      await execute(target, "UPDATE oncehook_callbacks SET with_record = 1");
      await withShop(target, { handlers }, async (receiver) => {
        expect((await deliverToShop(receiver, { id: "evt_1" })).status).toBe(200);
        await until(async () => (await ranFor(target)).length === 10);
      });
      const names = async () =>
        (await checkTarget(target)).invariants.filter(({ violations }) => violations > 0).map(({ name }) => name);
      expect(await names()).toEqual([]);
      // What came since then is held to it.
      await execute(target, "UPDATE oncehook_callbacks SET received_at = '2099-01-01T00:00:00.000Z'");
      expect(await names()).toContain("record-of-log");
    }));

  it("a backfilled event whose handler fails is a failure like any other, and still runs once", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      let isOpen = false;
      const handlers = [handlerOf(undefined, "order", (id) => id === "evt_3" && !isOpen)];
      await withShop(target, { handlers }, async (receiver) => {
        await backfill(target, handlers);
        await until(async () => (await ranFor(target)).length === 9);
        const waiting = () => receiver.count("oncehook_failures", "state = 'waiting' AND event_id = 'evt_3'");
        await until(async () => (await waiting()) === 1);
        isOpen = true;
        // The platform delivers it again before its retry.
        expect((await deliverToShop(receiver, { id: "evt_3" })).body.status).toBe("success");
        expect(await receiver.count("oncehook_failures")).toBe(0);
        expect(await ranFor(target)).toEqual(IDS);
      });
    }));

  it("a backfill hands each event to each handler of its type, whichever was added later", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const handlers = [handlerOf("audit")];
      await withShop(target, { handlers }, async () => {
        expect((await backfill(target, handlers)).accepted).toBe(10);
        await until(async () => (await ranFor(target, "shop#audit")).length === 10);
      });
      const both = [...handlers, handlerOf()];
      await withShop(target, { handlers: both }, async (receiver) => {
        expect(await backfill(target, both)).toMatchObject({ accepted: 10, alreadyTaken: 10 });
        await until(async () => (await ranFor(target)).length === 10);
        expect(await ranFor(target, "shop#audit")).toEqual(IDS);
        // They run again from the originals, and from their rows once those are gone.
        for (const id of ["evt_1", "evt_2"]) {
          for (const source of ["shop", "shop%23audit"])
            expect((await replay(receiver, `${source}/${id}/replay`)).body).toMatchObject({ outcome: "success" });
          await execute(target, "DELETE FROM oncehook_originals");
        }
        expect(await ranFor(target)).toHaveLength(12);
        await execute(target, `UPDATE events SET data = '{"id":"evt_3","customer":"cus_1"}' WHERE id = 'evt_3'`);
        const body = JSON.stringify({ path: "customer", value: "cus_1" });
        const headers = { "content-type": "application/json" };
        await receiver.admin("/api/v1/erasures", { method: "POST", headers, body });
        const { status, body: refused } = await replay(receiver, "shop/evt_3/replay");
        expect([status, refused.error]).toEqual([409, expect.stringContaining("its payload was erased")]);
      });
    }));

  it("an event that a handler has run since its record was deleted is not run again", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      await execute(target, "DELETE FROM oncehook_records WHERE event_id = 'evt_1'");
      await execute(target, "UPDATE events SET received_at = '2026-01-01T00:00:00.000Z'");
      await execute(target, "UPDATE oncehook_records SET processed_at = '2026-01-01T00:00:00.000Z'");
      const handlers = [handlerOf()];
      await withShop(target, { handlers }, async (receiver) => {
        expect((await deliverToShop(receiver, { id: "evt_1" })).body.status).toBe("success");
        expect((await backfill(target, handlers)).accepted).toBe(9);
        await until(async () => (await ranFor(target)).length >= 10);
        expect(await ranFor(target)).toEqual(IDS);
      });
    }));

  it("an event that was run again since it was stored is not run by a backfill, also without its record", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      await withShop(target, {}, async (receiver) => {
        for (const query of ["", "?dry_run=true"]) {
          const { status, body } = await replay(receiver, `shop/evt_1/replay${query}`);
          expect([status, body.error]).toEqual([409, expect.stringContaining("its source has no handler: add one")]);
        }
      });
      const handlers = [handlerOf(), handlerOf("audit")];
      await withShop(target, { handlers }, async (receiver) => {
        expect((await replay(receiver, "shop/evt_1/replay")).body).toMatchObject({
          outcome: "success",
          earlier: { result: { id: "evt_1" } },
        });
        expect(await backfill(target, [handlerOf()], { isDryRun: true })).toMatchObject({
          accepted: 9,
          alreadyTaken: 1,
        });
        // A delivery runs this one, since the record of its storing is gone.
        await execute(target, "DELETE FROM oncehook_records WHERE event_id = 'evt_2'");
        await execute(target, "UPDATE events SET received_at = '2026-01-01T00:00:00.000Z' WHERE id = 'evt_2'");
        expect((await deliverToShop(receiver, { id: "evt_2" })).body.status).toBe("success");
        await deleteRecords(target);
        expect(await receiver.count("oncehook_records", "event_id IN ('evt_1', 'evt_2') AND source = 'shop'")).toBe(0);
        expect(await backfill(target, handlers)).toMatchObject({ accepted: 17, alreadyTaken: 3 });
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(await ranFor(target)).toEqual(IDS);
        expect(await ranFor(target, "shop#audit")).toEqual(IDS);
      });
    }));

  it("a dry run runs a sample of events in transactions that it rolls back, and names those that would fail", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const stored = {
        data: z.looseObject({ id: z.string(), amount: z.number() }),
        source: "shop",
        type: "order",
      };
      const handlers = [
        handlerOf(undefined, "order", (id) => id === "evt_3"),
        defineHandler({ ...stored, name: "strict", handle: () => ({}) }),
        defineHandler({
          ...stored,
          name: "outside",
          prepare: () => Promise.reject(new Error("was run")),
          handle: () => ({}),
        }),
      ];
      const { sample, accepted } = await backfill(target, handlers, { isDryRun: true });
      expect([accepted, sample?.run]).toEqual([30, 20]);
      expect(sample?.failed.filter(({ reason }) => reason.includes("the warehouse is closed"))).toEqual([
        { type: "order", id: "evt_3", reason: "Error: the warehouse is closed" },
      ]);
      expect(sample?.failed.filter(({ reason }) => reason.includes("data.amount"))).toHaveLength(10);
      for (const table of ["oncehook_notifications", "oncehook_failures", "oncehook_backfilled"])
        expect(await rowsOf(target, `SELECT 1 AS one FROM ${table}`)).toEqual([]);
      expect(await backfill(target, handlers, { isDryRun: true })).toMatchObject({ accepted: 30 });
    }));

  it("a dry run applies no step and no migration, and stamps no key: it refuses, or counts without a sample", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const state = async () =>
        Promise.all(
          ["schema", "handler_migrations", "settings"].map((name) =>
            rowsOf(target, `SELECT * FROM oncehook_${name} ORDER BY 1, 2`),
          ),
        );
      const draft = sqlMigration("draft", "CREATE TABLE draft_orders (id text PRIMARY KEY)");
      const handlers = [{ ...handlerOf(), migrations: [draft] }];
      const former = Buffer.from(testConfig(target).encryptionKey).toString("base64");
      const env = { ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_PREVIOUS: former };
      const config = testConfig(target, env, { sources: { shop: shop() } });
      const before = await state();
      const dryRun = (migrations: readonly Migration[], own: readonly Handler[]) =>
        backfillOnce({ config, handlers: own, migrations }, { ...ALL, isDryRun: true });
      await withShop(target, {}, async () => {
        expect(await dryRun([], handlers)).toMatchObject({
          accepted: 10,
          sample: { run: 0 },
          unapplied: ["draft"],
        });
        expect(await dryRun([draft], [handlerOf()])).toMatchObject({ accepted: 10, unapplied: ["draft"] });
        expect(await dryRun([], [handlerOf()])).toMatchObject({ sample: { run: 10 }, unapplied: [] });
        // Without a handler it says what is stored.
        expect(await dryRun([], [])).toMatchObject({
          accepted: 0,
          ignored: 10,
          ignoredByType: { order: 10 },
        });
      });
      expect(await state()).toEqual(before);
    }));

  it("a dry run in an older schema, or without a database, is refused and makes nothing", () =>
    withDatabase(dialect, async (target) => {
      const schema = dialect === "postgres" ? { DATABASE_SCHEMA: "not_there" } : {};
      const config = testConfig(target, schema, { sources: { shop: shop() } });
      const first = /database is not there yet, and a dry run changes nothing; run `oncehook migrate`, or start/;
      const loaded = { config, handlers: [handlerOf()], migrations: [] };
      await expect(backfillOnce(loaded, { ...ALL, isDryRun: true })).rejects.toThrow(first);
      if (dialect === "sqlite") expect(existsSync(databaseFile(target))).toBe(false);
      else expect(await rowsOf(target, "SELECT nspname FROM pg_namespace WHERE nspname = 'not_there'")).toEqual([]);
      await makeOlder(target, 23);
      await expect(backfill(target, [handlerOf()], { isDryRun: true })).rejects.toThrow(
        "the database has schema 23, of an earlier version, and a dry run changes nothing; run `oncehook migrate`",
      );
      expect(await rowsOf(target, "SELECT max(number) AS newest FROM oncehook_schema")).toEqual([{ newest: 23 }]);
      expect(await rowsOf(target, "SELECT * FROM oncehook_settings")).toEqual([]);
    }));

  it("doctor names the stored events that have a handler and have not run, and no others", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const config = testConfig(target, {}, { sources: { shop: shop() } });
      const unrun = async (handlers: readonly Handler[]) =>
        (await checkDatabase(config, [], new Date(), handlers)).filter(({ check }) => check === "handlers");
      expect(await unrun([])).toEqual([]);
      expect(await unrun([handlerOf(undefined, "refund")])).toEqual([]);
      expect(await unrun([handlerOf()])).toEqual([
        {
          level: "warning",
          check: "handlers",
          message:
            "stored events of shop order have a handler and have not run (10): oncehook backfill shop --type order",
        },
      ]);
      await backfill(target, [handlerOf()]);
      expect(await unrun([handlerOf()])).toEqual([]);
    }));

  it("a backfill leaves out what the source's filters leave out by now", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const sources = { shop: shop({ ignore: ["order"] }) };
      const config = testConfig(target, {}, { sources });
      const handlers = [handlerOf()];
      expect(await backfillOnce({ config, handlers, migrations: [] }, ALL)).toMatchObject({
        accepted: 0,
        ignored: 10,
      });
      expect((await backfill(target, handlers)).accepted).toBe(10);
    }));

  it("a backfill hands the events of each tenant to the handler, under the tenant's key", () =>
    withMigrated(dialect, async (target) => {
      const secretOf = (tenant = "") => `the secret of the tenant ${tenant}`;
      const sources = {
        shop: shop({ path: "/shops/:name", secret: ({ params }) => secretOf(String(params.name)) }),
      };
      const deliver = async (receiver: TestReceiver, tenant: string, id: string) => {
        const body = Buffer.from(JSON.stringify({ id, type: "order", time: 1_700_000_000 }));
        const headers = { ...shop({ secret: secretOf(tenant) }).sign?.({ body, now: new Date() }) };
        const url = `${receiver.publicOrigin}/shops/${tenant}`;
        return (await fetch(url, { method: "POST", body, headers })).status;
      };
      await withShop(target, { sources }, async (receiver) => {
        for (const tenant of ["acme", "globex"])
          for (const id of ["evt_0", "evt_1"]) expect(await deliver(receiver, tenant, id)).toBe(200);
      });
      const handlers = [handlerOf()];
      await withShop(target, { sources, handlers }, async (receiver) => {
        const config = testConfig(target, {}, { sources });
        const run = () => backfillOnce({ config, handlers, migrations: [] }, ALL);
        expect((await run()).accepted).toBe(4);
        expect(await run()).toMatchObject({ accepted: 0, alreadyTaken: 4 });
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(await deliver(receiver, "acme", "evt_0")).toBe(200);
        for (const tenant of ["acme", "globex"])
          expect(await ranFor(target, `shop/${tenant}`)).toEqual(["evt_0", "evt_1"]);
      });
    }));

  it("a backfill that is killed, cancelled and started again has each event run once", { tags: "full" }, () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const child = await runChild("test/support/backfill-child.ts", [target.dialect, target.url]);
      expect([child.signal, child.stderr]).toEqual(["SIGKILL", ""]);
      const handlers = [handlerOf()];
      await withShop(target, { handlers }, async (receiver) => {
        const taken = await receiver.count("oncehook_backfilled");
        expect(taken).toBeGreaterThanOrEqual(3);
        expect(taken).toBeLessThan(10);
        await expect(backfill(target, handlers)).rejects.toThrow("cancel it (oncehook backfills 1 --cancel)");
        expect((await receiver.admin("/api/v1/backfills/1/cancel", { method: "POST" })).status).toBe(200);
        expect(await backfill(target, handlers)).toMatchObject({
          accepted: 10 - taken,
          alreadyTaken: taken,
        });
        await until(async () => (await ranFor(target)).length >= 10);
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(await ranFor(target)).toEqual(IDS);
      });
    }),
  );

  it("a backfill with a rate of 20 a second begins ten events in no less than 450 ms", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const begun = performance.now();
      expect((await backfill(target, [handlerOf()], { perSecond: 20 })).accepted).toBe(10);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(450);
    }));

  it("a dry run, another type and an earlier time change nothing", () =>
    withMigrated(dialect, async (target) => {
      await storeTen(target);
      const handlers = [handlerOf()];
      expect(await backfill(target, handlers, { isDryRun: true })).toMatchObject({
        accepted: 10,
        acceptedByType: { order: 10 },
      });
      await expect(backfill(target, handlers, { type: "refund" })).rejects.toThrow(
        'no handler of shop takes "refund"; there are order',
      );
      expect((await backfill(target, [handlerOf(undefined, "refund")])).ignored).toBe(10);
      await execute(target, "UPDATE events SET received_at = '2026-01-01T00:00:00.000Z'");
      expect((await backfill(target, handlers, { sinceMs: 3_600_000 })).accepted).toBe(0);
      expect(await rowsOf(target, "SELECT 1 AS one FROM oncehook_failures")).toEqual([]);
      expect((await rowsOf(target, "SELECT 1 AS one FROM oncehook_records")).length).toBe(10);
    }));
});

describe("oncehook backfill", () => {
  it("a handler added after ten events were stored runs all ten, by the README's way", () =>
    withFolder(async (folder) => {
      const databaseUrl = `sqlite:${join(folder, "test.db")}`;
      const secret = "whsec_of-the-tests";
      const env = {
        ...CHILD_ENVIRONMENT,
        DATABASE_URL: databaseUrl,
        SOURCES: "stripe",
        STRIPE_SECRET: secret,
      };
      const { PATH: _, ...ofReceiver } = env;
      {
        await using receiver = await startTestReceiver({ databaseUrl, env: ofReceiver });
        for (const id of IDS)
          expect((await receiver.send({ source: "stripe", type: "invoice.paid", id })).status).toBe(200);
      }
      const handler = defineHandler({
        source: "stripe",
        type: "invoice.paid",
        data: z.looseObject({}),
        handle: () => ({ ran: true }),
      });
      writeFileSync(
        join(folder, "oncehook.config.ts"),
        `import { defineConfig, defineHandler } from ${JSON.stringify(source("src/index.ts"))};
import { z } from ${JSON.stringify(source("node_modules/zod/index.js"))};
export default defineConfig({
  handlers: [defineHandler({ source: "stripe", type: "invoice.paid", data: z.looseObject({}), handle: () => ({ ran: true }) })],
});
`,
      );
      const run = (...args: string[]) => runCommandLine(["backfill", "stripe", ...args], env, folder);
      expect((await run("--dry-run")).stdout).toContain("stripe: 10 events would be accepted; nothing was changed");
      expect((await run("--dry-run")).stdout).toContain("Of the first 10 events, run and rolled back, 0 would fail.");
      expect(await run("--rate", "1000/s")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("invoice.paid  10"),
      });
      await using receiver = await startTestReceiver({ databaseUrl, env: ofReceiver, handlers: [handler] });
      await receiver.clock.advance(0);
      const records = await receiver.records();
      expect(records.map(({ event_id, result }) => [event_id, result])).toEqual(IDS.map((id) => [id, { ran: true }]));
      expect(await receiver.failures()).toEqual([]);
    }));

  it("a source without a handler, and a time that is none, are refused with what to do", () =>
    withFolder(async (folder) => {
      const env = {
        ...CHILD_ENVIRONMENT,
        DATABASE_URL: `sqlite:${join(folder, "test.db")}`,
        SOURCES: "stripe",
        STRIPE_SECRET: "whsec_of-the-tests",
      };
      const run = (...args: string[]) => runCommandLine(["backfill", ...args], env, folder);
      const migrated = await runCommandLine(["migrate"], env, folder);
      expect([migrated.code, (await run("stripe", "--dry-run")).stdout]).toEqual([
        0,
        expect.stringContaining("stripe: 0 events would be accepted; nothing was changed"),
      ]);
      expect(await run("stripe")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("has no handler of yours: add one"),
      });
      expect(await run("strip")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('there is no source "strip"'),
      });
      expect((await run("stripe", "--since", "soon")).code).toBe(2);
    }));
});

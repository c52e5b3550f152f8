import { expect, it } from "vitest";
import { z } from "zod";
import type { BackfillView } from "../../src/admin-client/index.ts";
import { backfillOnce } from "../../src/app/index.ts";
import { defineHandler, type Handler } from "../../src/handlers/index.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import type { Target } from "../support/open-target.ts";
import { type ReceiverOptions, type TestReceiver, testConfig } from "../support/receiver.ts";
import { BATCH, deliverToShop, shop } from "../support/shop-source.ts";
import { ALL, handlerOf, withShop } from "../support/stored-events.ts";
import { until } from "../support/until.ts";

const IDS = ["evt_1", "evt_2", "evt_3", "evt_4"];
const REFUNDS = handlerOf("refunds", "refund");

/** Orders come while nothing but refunds has a handler: they are ignored. */
function ignoreOrders(target: Target, over: ReceiverOptions = {}): Promise<void> {
  return withShop(target, { handlers: [REFUNDS], ...over }, async (receiver) => {
    for (const id of IDS) expect((await deliverToShop(receiver, { id, time: 1_700_000_000 })).status).toBe(200);
  });
}

const backfill = (
  target: Target,
  handlers: readonly Handler[],
  over: Partial<Parameters<typeof backfillOnce>[1]> = {},
  sources: ReceiverOptions["sources"] = { shop: shop() },
) => backfillOnce({ config: testConfig(target, {}, { sources }), handlers, migrations: [] }, { ...ALL, ...over });

/** Whose runs have had an effect, under this key, in the order in which they ran. */
const ranFor = async (target: Target, source: string) =>
  (await rowsOf(target, `SELECT event_id FROM oncehook_notifications WHERE source = '${source}' ORDER BY id`)).map(
    ({ event_id }) => event_id,
  );

const post = async (receiver: TestReceiver, path: string, body?: object) =>
  receiver.admin(path, {
    method: "POST",
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });

describeFullOnPostgres("the history of a handler on %s", (dialect) => {
  it("a new handler gets the events that no handler took, once each, beside their redeliveries", () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      await withShop(target, { handlers }, async (receiver) => {
        const redeliver = async () => {
          for (const id of IDS) expect((await deliverToShop(receiver, { id, time: 1_700_000_000 })).status).toBe(200);
        };
        // The second one is refused, unless the first pass of the first one is over.
        const both = await Promise.allSettled([backfill(target, handlers), backfill(target, handlers), redeliver()]);
        const [one, other] = both.map((run) => (run.status === "fulfilled" ? run.value : undefined));
        expect((one?.accepted ?? 0) + (other?.accepted ?? 0)).toBeLessThanOrEqual(IDS.length);
        expect(both[2]?.status).toBe("fulfilled");
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        await redeliver();
        expect(await backfill(target, handlers)).toMatchObject({ accepted: 0, alreadyTaken: expect.anything() });
        expect((await ranFor(target, "shop")).toSorted()).toEqual(IDS);
        const payloads = await rowsOf(target, "SELECT DISTINCT payload FROM oncehook_notifications");
        expect(payloads).toEqual([{ payload: JSON.stringify({ by: "none", timestamp: 1_700_000_000 }) }]);
      });
    }));

  it("events are accepted in the order in which they came, with the body that came", () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      expect((await backfill(target, handlers)).accepted).toBe(4);
      const rows = await rowsOf(target, "SELECT event_id FROM oncehook_failures ORDER BY next_attempt_at, id");
      expect(rows.map(({ event_id }) => event_id)).toEqual(IDS);
      const hashes = async (table: string) =>
        (await rowsOf(target, `SELECT body_sha256 FROM ${table} ORDER BY event_id`)).map((row) => row.body_sha256);
      const accepted = await hashes("oncehook_failures");
      await withShop(target, { handlers, retryPollMs: 3_600_000 }, async (receiver) => {
        for (const id of IDS) await deliverToShop(receiver, { id, time: 1_700_000_000 });
      });
      expect(await hashes("oncehook_records")).toEqual(accepted);
    }));

  it("a handler with a name gets what the one without has handled, alone, and may run it again until it is erased", () =>
    withMigrated(dialect, async (target) => {
      const deliver = async (receiver: TestReceiver) => {
        for (const id of IDS) await deliverToShop(receiver, { id, customer: `customer_of_${id}` });
      };
      await withShop(target, { handlers: [handlerOf()] }, deliver);
      const both = [handlerOf(), handlerOf("crm")];
      expect(await backfill(target, both, { handler: "shop#crm" })).toMatchObject({ accepted: 4, heldBack: 0 });
      await withShop(target, { handlers: both }, async (receiver) => {
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        await deliver(receiver);
        expect(await ranFor(target, "shop#crm")).toHaveLength(4);
        const replay = async (id: string) => {
          const { status, body } = await post(receiver, `/api/v1/events/shop%23crm/${id}/replay`, { reason: "mended" });
          return [status, body.outcome ?? body.error];
        };
        expect(await replay("evt_1")).toEqual([200, "success"]);
        await post(receiver, "/api/v1/erasures", { path: "customer", value: "customer_of_evt_2" });
        expect(await replay("evt_2")).toEqual([409, expect.stringContaining("its payload was erased")]);
      });
      expect(await ranFor(target, "shop#crm")).toHaveLength(5);
      expect(await ranFor(target, "shop")).toHaveLength(4);
    }));

  it(
    "a renamed handler does not run again what it handled under its former name, unless that is asked for",
    { tags: "full" },
    () =>
      withMigrated(dialect, async (target) => {
        let isDown = false;
        const handlers = [handlerOf("audit", "order", () => isDown)];
        await withShop(target, { handlers, env: { RETRY_MAX: "0" } }, async (receiver) => {
          for (const id of IDS.slice(0, 3)) await deliverToShop(receiver, { id });
          isDown = true;
          await deliverToShop(receiver, { id: "evt_4" });
        });
        const renamed = [handlerOf("ledger")];
        const dryRun = await backfill(target, renamed, { handler: "shop#ledger", isDryRun: true });
        expect(dryRun).toMatchObject({ accepted: 1, heldBack: 3, heldBackByHandler: { "shop#audit": 3 } });
        // The event that failed under the former name has not been handled by any.
        const report = await backfill(target, renamed, { handler: "shop#ledger" });
        expect(report).toMatchObject({ accepted: 1, heldBack: 3, heldBackByHandler: { "shop#audit": 3 } });
        const again = await backfill(target, renamed, { handler: "shop#ledger", includesFormer: true });
        expect(again).toMatchObject({ accepted: 3, heldBack: 0, alreadyTaken: 1 });
      }),
  );

  it("a source that keeps no originals has no history, and one type has only its own", () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target, { sources: { shop: shop({ keep: "0" }) } });
      expect(await backfill(target, [REFUNDS, handlerOf()])).toMatchObject({ accepted: 0, alreadyTaken: 0 });
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      expect(await backfill(target, handlers, { type: "refund" })).toMatchObject({ accepted: 0, ignored: 0 });
      expect(await backfill(target, handlers, { type: "order", isDryRun: true })).toMatchObject({ accepted: 4 });
    }));

  it("events are left out whose records may be gone by now", () =>
    withMigrated(dialect, async (target) => {
      const came = new Date(Date.now() - 40 * 86_400_000);
      await withShop(target, { handlers: [REFUNDS], clock: { now: () => came } }, async (receiver) => {
        const time = Math.floor(came.getTime() / 1_000);
        expect((await deliverToShop(receiver, { id: "evt_1", time })).status).toBe(200);
      });
      await execute(target, "UPDATE oncehook_originals SET keep_until = '2099-01-01T00:00:00.000Z'");
      const acceptedWith = async (env: Record<string, string>) => {
        const config = testConfig(target, env, { sources: { shop: shop({ hasSignedTime: true }) } });
        const loaded = { config, handlers: [REFUNDS, handlerOf()], migrations: [] };
        return (await backfillOnce(loaded, { ...ALL, isDryRun: true })).accepted;
      };
      expect(await acceptedWith({ RECORD_RETENTION_DAYS: "30" })).toBe(0);
      expect(await acceptedWith({})).toBe(1);
    }));

  it("events that are older than --since are left out", () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      expect((await backfill(target, handlers, { sinceMs: 0, isDryRun: true })).accepted).toBe(0);
      expect((await backfill(target, handlers, { sinceMs: 3_600_000, isDryRun: true })).accepted).toBe(4);
    }));

  it("erased, expired and unreadable originals are counted apart, and none of them runs", () =>
    withMigrated(dialect, async (target) => {
      await withShop(target, { handlers: [REFUNDS] }, async (receiver) => {
        await deliverToShop(receiver, { id: "erased", customer: "cus_1" });
        await deliverToShop(receiver, { id: "kept", customer: "cus_2" });
        await post(receiver, "/api/v1/erasures", { path: "customer", value: "cus_1" });
      });
      const handlers = [REFUNDS, handlerOf()];
      expect(await backfill(target, handlers, { isDryRun: true })).toMatchObject({ accepted: 1, erased: 1 });
      await execute(target, "UPDATE oncehook_originals SET keep_until = '2026-01-01T00:00:00.000Z'");
      expect(await backfill(target, handlers, { isDryRun: true })).toMatchObject({ accepted: 0, expired: 2 });
      const bytes = dialect === "sqlite" ? "x'00'" : "'\\x00'::bytea";
      await execute(target, `UPDATE oncehook_originals SET encrypted_block = ${bytes}`);
      expect(await backfill(target, handlers)).toMatchObject({ accepted: 0, unreadable: 1 });
      expect(await rowsOf(target, "SELECT 1 AS one FROM oncehook_failures")).toEqual([]);
    }));

  it("items of a batch, and the events of each tenant, come to a new handler under their keys", () =>
    withMigrated(dialect, async (target) => {
      const secretOf = (tenant = "") => `the secret of the tenant ${tenant}`;
      const secret = ({ params }: { readonly params: Readonly<Record<string, string>> }) => secretOf(params.name);
      const sources = { shop: shop({ path: "/shops/:name", secret, ...BATCH }) };
      const deliver = async (receiver: TestReceiver, tenant: string) => {
        const events = [1, 2].map((n) => ({ id: `evt_${n}`, type: "order", time: 1_700_000_000 }));
        const body = Buffer.from(JSON.stringify({ events }));
        const headers = { ...shop({ secret: secretOf(tenant) }).sign?.({ body, now: new Date() }) };
        const url = `${receiver.publicOrigin}/shops/${tenant}`;
        expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
      };
      await withShop(target, { handlers: [REFUNDS], sources }, async (receiver) => {
        for (const tenant of ["acme", "other"]) await deliver(receiver, tenant);
      });
      const handlers = [REFUNDS, handlerOf("crm")];
      expect(await backfill(target, handlers, { handler: "shop#crm" }, sources)).toMatchObject({ accepted: 4 });
      await withShop(target, { handlers, sources }, async (receiver) => {
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        await deliver(receiver, "acme");
      });
      for (const tenant of ["acme", "other"])
        expect((await ranFor(target, `shop/${tenant}#crm`)).toSorted()).toEqual(["evt_1", "evt_2"]);
    }));

  it(
    "a receiver works on a backfill that the admin API started, and an operator pauses, resumes and cancels it",
    { tags: "full" },
    () =>
      withMigrated(dialect, async (target) => {
        await ignoreOrders(target);
        const handlers = [REFUNDS, handlerOf()];
        const asked = { handler: "shop", event_type: "order", since: "2026-01-01T00:00:00+01:00" };
        await withShop(target, { handlers, backfillPollMs: 20 }, async (receiver) => {
          const preview = await post(receiver, "/api/v1/backfills?dry_run=true", asked);
          expect(preview).toMatchObject({
            status: 200,
            body: { accepted: 4, accepted_by_type: { order: 4 }, is_complete: true, sample: { run: 4, failed: [] } },
          });
          expect(await receiver.count("oncehook_backfills")).toBe(0);
          const started = await post(receiver, "/api/v1/backfills", { ...asked, per_second: 2 });
          expect(started).toMatchObject({ status: 201, body: { state: "running", handler: "shop", per_second: 2 } });
          const { id } = started.body as unknown as BackfillView;
          const path = `/api/v1/backfills/${id}`;
          const view = async () => (await receiver.admin(path)).body as unknown as BackfillView;
          await until(async () => (await view()).accepted > 0);
          expect((await post(receiver, `${path}/pause`)).body.state).toBe("paused");
          const { accepted } = await view();
          expect(accepted).toBeLessThan(4);
          expect((await post(receiver, `${path}/resume`)).body.state).toBe("running");
          await until(async () => (await view()).accepted === 4);
          await until(async () => (await ranFor(target, "shop")).length === 4);
          expect((await view()).state).toBe("running");
          expect((await post(receiver, `${path}/cancel`)).body.state).toBe("cancelled");
          expect((await post(receiver, `${path}/resume`)).status).toBe(409);
          expect((await receiver.admin("/api/v1/backfills")).body.items).toMatchObject([{ id, state: "cancelled" }]);
          expect((await receiver.admin("/api/v1/backfills/99")).status).toBe(404);
          const unknown = await post(receiver, "/api/v1/backfills", { ...asked, handler: "shop#sales" });
          expect([unknown.status, unknown.body.error]).toEqual([
            404,
            'no handler of shop is named "sales"; there are shop#refunds, shop',
          ]);
        });
      }),
  );

  it("a second pass takes a group that committed behind the position of the first one, and then it is done", () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      // The block of another process is still to commit during the first pass.
      await execute(target, "CREATE TABLE uncommitted AS SELECT * FROM oncehook_originals");
      await execute(target, "DELETE FROM oncehook_originals");
      const { id, accepted, state } = await backfill(target, handlers);
      expect([accepted, state]).toEqual([0, "running"]);
      const ids = dialect === "postgres" ? "OVERRIDING SYSTEM VALUE" : "";
      await execute(target, `INSERT INTO oncehook_originals ${ids} SELECT * FROM uncommitted`);
      await withShop(target, { handlers, backfillPollMs: 20 }, async (receiver) => {
        const view = async () => (await receiver.admin(`/api/v1/backfills/${id}`)).body;
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(await view()).toMatchObject({ state: "running", accepted: 0 });
        await execute(target, `UPDATE oncehook_backfills SET due_at = '2026-01-01T00:00:00.000Z'`);
        await until(async () => (await view()).state === "done");
        expect(await view()).toMatchObject({ accepted: 4, ignored: 0 });
        await until(async () => (await ranFor(target, "shop")).length === 4);
      });
    }));

  it("a backfill whose process has ended goes on in another one, behind what it has accepted", { tags: "full" }, () =>
    withMigrated(dialect, async (target) => {
      await ignoreOrders(target);
      const handlers = [REFUNDS, handlerOf()];
      await withShop(target, { handlers, backfillPollMs: 20 }, async (receiver) => {
        const asked = { handler: "shop", since: "2026-01-01T00:00:00Z", per_second: 4 };
        const { id } = (await post(receiver, "/api/v1/backfills", asked)).body as unknown as BackfillView;
        await until(async () => Number((await receiver.admin(`/api/v1/backfills/${id}`)).body.accepted) > 0);
      });
      await withShop(target, { handlers, backfillPollMs: 20 }, async (receiver) => {
        const view = async () => (await receiver.admin("/api/v1/backfills/1")).body;
        await until(async () => (await view()).accepted === 4);
        expect(await view()).toMatchObject({ already_taken: 0 });
        await until(async () => (await ranFor(target, "shop")).length === 4);
      });
    }),
  );

  it("events of one `orderBy` run one after the other, in the order in which they came", () =>
    withMigrated(dialect, async (target) => {
      await withShop(target, { handlers: [REFUNDS] }, async (receiver) => {
        for (const id of IDS) await deliverToShop(receiver, { id, customer: "cus_1" });
      });
      const ordered = defineHandler({
        source: "shop",
        type: "order",
        data: z.looseObject({}),
        orderBy: "data.customer",
        async handle({ event, notify }) {
          await notify("ran", { id: event.event_id });
          return {};
        },
      });
      const handlers = [REFUNDS, ordered];
      expect((await backfill(target, handlers)).accepted).toBe(4);
      await withShop(target, { handlers }, async (receiver) => {
        await until(async () => (await receiver.count("oncehook_failures")) === 0);
        expect(await ranFor(target, "shop")).toEqual(IDS);
      });
    }));
});

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { DAY_MS, ERASED } from "../../src/domain/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { backupSqlite } from "../../src/store/sqlite/index.ts";
import { createValueIndexer } from "../../src/upkeep/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { erase, everything } from "../support/erasure.ts";
import { execute } from "../support/execute.ts";
import { databaseFile, openTarget, STAMP, type Target } from "../support/open-target.ts";
import { originalOf } from "../support/originals.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { BATCH, deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

const CUSTOMER = "cus_of_the_erased_person";
const OPTIONS: ReceiverOptions = {
  sources: { shop: shop({ answer: "inline" }) },
  handlers: [
    defineHandler({
      source: "shop",
      type: "order",
      data: z.looseObject({ customer: z.string(), fails: z.boolean().optional() }),
      async handle({ event, notify }) {
        const { customer, fails = false } = event.data;
        if (fails) throw new Error(`no account of ${customer}`);
        await notify("ordered", { text: `order of ${customer}` });
        return { customer, id: event.event_id };
      },
    }),
  ],
};
const WHERE = { path: "customer", value: CUSTOMER };

/** Two handled events of the person and one that failed, a duplicate, and an event of somebody else. */
async function deliverAll(receiver: TestReceiver): Promise<void> {
  for (const id of ["e1", "e2", "e2"]) await deliverToShop(receiver, { id, customer: CUSTOMER });
  await deliverToShop(receiver, { id: "failed", customer: CUSTOMER, fails: true });
  await deliverToShop(receiver, { id: "other", customer: "cus_other" });
}

const FORM_SHOP = shop({ body: "form" });

async function deliverForm({ publicOrigin }: TestReceiver, fields: Record<string, string>): Promise<void> {
  const body = Buffer.from(new URLSearchParams(fields).toString());
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    ...FORM_SHOP.sign?.({ body, now: new Date() }),
  };
  const response = await fetch(`${publicOrigin}/api/shop/callback`, { method: "POST", body, headers });
  expect(response.status).toBe(200);
}

/** @returns allows them again */
async function refuseChanges(target: Target, table: string): Promise<() => Promise<void>> {
  const [begin, end] =
    target.dialect === "sqlite"
      ? ["BEGIN", "SELECT RAISE(ABORT, 'refused'); END"]
      : ["FOR EACH ROW EXECUTE FUNCTION", "refused()"];
  if (target.dialect === "postgres")
    await execute(
      target,
      "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
    );
  for (const change of ["UPDATE", "DELETE"])
    await execute(target, `CREATE TRIGGER refused_${change} BEFORE ${change} ON ${table} ${begin} ${end}`);
  const ofTable = target.dialect === "sqlite" ? "" : ` ON ${table}`;
  return async () => {
    for (const change of ["UPDATE", "DELETE"]) await execute(target, `DROP TRIGGER refused_${change}${ofTable}`);
  };
}

describeFullOnPostgres("erasing a person's payloads on %s", (dialect) => {
  it("an erasure leaves the value in no table, and the payloads of others as they are", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverAll(receiver);
        const counted = (await erase(receiver, WHERE, "?dry_run=true")).body as Record<string, unknown>;
        const counts = { events: 3, originals: 3, callbacks: 4, failures: 1, notifications: 2, captures: 0 };
        expect(counted).toMatchObject({ ...counts, unreadable: 0, dry_run: true });
        expect(await everything(receiver)).toContain(CUSTOMER);
        const erased = (await erase(receiver, WHERE)).body as Record<string, unknown>;
        expect(erased).toEqual({ ...counted, dry_run: false });
        const left = await everything(receiver);
        expect(left).not.toContain(CUSTOMER);
        expect(left).toContain('"customer":"cus_other"');
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 0, callbacks: 0 });
      },
      OPTIONS,
    ));

  it.each(["records", "notifications", "callbacks", "originals"])(
    "an erasure that could not write %s is finished by the next one",
    (table) =>
      withReceiver(
        dialect,
        async (receiver) => {
          await deliverAll(receiver);
          await receiver.admin("/api/v1/failures/shop/failed/replay", { method: "POST" });
          const mend = await refuseChanges(receiver.target, `oncehook_${table}`);
          expect((await erase(receiver, WHERE)).status).toBe(500);
          await mend();
          expect((await erase(receiver, WHERE)).status).toBe(200);
          expect(await everything(receiver)).not.toContain(CUSTOMER);
        },
        OPTIONS,
      ),
  );

  it("an erasure removes the payloads of events that no handler took", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverToShop(receiver, { id: "ignored", type: "refund", customer: CUSTOMER });
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 1, originals: 1, callbacks: 1 });
        expect(await everything(receiver)).not.toContain(CUSTOMER);
      },
      OPTIONS,
    ));

  it("a late duplicate of an erased event is a duplicate, and its result is without the value", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverAll(receiver);
        await erase(receiver, WHERE);
        const { body } = await deliverToShop(receiver, { id: "e1", customer: CUSTOMER });
        expect(body.status).toBe("already_processed");
        const [record] = await rowsOf(receiver.target, "SELECT result FROM oncehook_records WHERE event_id = 'e1'");
        expect(JSON.parse(String(record?.result))).toEqual({ customer: ERASED, id: "e1" });
        expect(await receiver.count("oncehook_records")).toBe(3);
      },
      OPTIONS,
    ));

  it("the audit log has the proof of an erasure: path, counts and digest, and never the value", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverAll(receiver);
        const { body } = await erase(receiver, WHERE);
        const { digest } = body as { digest: string };
        expect(digest).toMatch(/^[0-9a-f]{64}$/);
        const { items } = (await receiver.admin("/api/v1/audit?action=erasure.done")).body as { items: object[] };
        expect(items).toMatchObject([{ outcome: "done", detail: { path: "customer", events: 3, digest } }]);
        const all = JSON.stringify(await rowsOf(receiver.target, "SELECT * FROM oncehook_audit"));
        expect(all).toContain("erasure.start");
        expect(all).not.toContain(CUSTOMER);
      },
      OPTIONS,
    ));

  it("an erasure of one event of a batch leaves the others, which still run", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const events = [
          { id: "e1", type: "order", customer: CUSTOMER },
          { id: "e2", type: "order", customer: "cus_other", fails: true },
          { id: "e3", type: "order", customer: "cus_other" },
        ];
        await deliverToShop(receiver, { id: "batch", events });
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 1, originals: 1, failures: 0 });
        expect(await everything(receiver)).not.toContain(CUSTOMER);
        const third = await originalOf(receiver.target, { source: "shop", eventId: "e3" });
        expect(JSON.parse(Buffer.from(third?.body ?? []).toString())).toMatchObject({ data: events[2] });
        expect(await receiver.count("oncehook_failures", "event_id = 'e2'")).toBe(1);
      },
      {
        ...OPTIONS,
        sources: { shop: shop(BATCH) },
      },
    ));

  it("an erasure finds a value in a form, also where it was sent in percent encoding", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const person = "ann+shop@example.com";
        await deliverForm(receiver, { id: "e1", type: "order", customer: person });
        await deliverForm(receiver, { id: "e2", type: "order", customer: "cus_other" });
        const { body } = await erase(receiver, { path: "customer", value: person });
        expect(body).toMatchObject({ events: 1, originals: 1, callbacks: 1 });
        const left = await everything(receiver);
        expect(left).not.toContain(person);
        expect(left).not.toContain(encodeURIComponent(person));
        expect(left).toContain("cus_other");
      },
      { ...OPTIONS, sources: { shop: FORM_SHOP } },
    ));

  it("an erasure is not held up by a body of a stranger that is nested without an end", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const deep = `${"[".repeat(30_000)}"${CUSTOMER}"${"]".repeat(30_000)}`;
        const claimed = JSON.stringify({ type: `order of ${CUSTOMER}`, customer: CUSTOMER });
        for (const body of [deep, JSON.stringify([{ lines: [CUSTOMER] }]), claimed])
          await fetch(`${receiver.publicOrigin}/api/shop/callback`, { method: "POST", body });
        await deliverToShop(receiver, { id: "e1", customer: CUSTOMER });
        await until(async () => (await receiver.count("oncehook_callbacks")) === 4);
        expect((await erase(receiver, WHERE)).body).toMatchObject({ events: 1 });
        expect(await everything(receiver)).not.toContain(CUSTOMER);
      },
      OPTIONS,
    ));

  it("an erasure deletes captured requests that hold the value, and no others", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const customer of [CUSTOMER, "cus_other"]) await deliverToShop(receiver, { id: customer, customer });
        await until(async () => (await receiver.count("oncehook_captured_requests")) === 2);
        expect((await erase(receiver, WHERE)).body).toMatchObject({ captures: 1 });
        expect(await receiver.count("oncehook_captured_requests")).toBe(1);
      },
      { ...OPTIONS, env: { CAPTURE: "on" } },
    ));

  it("an erased value is in no block of the value index, and the values of others are", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await deliverAll(receiver);
        // In a segment of few rows their value would be a common one.
        for (let n = 0; n < 59; n += 1) await deliverToShop(receiver, { id: `o${n}`, customer: `cus_${n}` });
        await until(async () => (await receiver.count("oncehook_callbacks")) === 64);
        const { store } = await openTarget(receiver.target, {
          stamp: { ...STAMP, keys: { ...STAMP.keys, acceptNew: true }, changesNothing: true },
        });
        try {
          const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };
          const log = { warn: () => {} } as never;
          const indexer = createValueIndexer({ store, clock, log, activeCallbacks: () => 0, segmentIds: 64 });
          const found = async (value: string) => {
            // On PostgreSQL a round notes which rows there are, and one of a later day indexes them.
            for (let day = 0; day < 3; day += 1, clock.ahead += DAY_MS) await indexer.round();
            const ids = await store.valueIndex.idsOf(await store.valueIndex.segments(), value, "exact");
            return [...ids.values()].flatMap(({ exact }) => exact).length;
          };
          expect(await found(CUSTOMER)).toBe(4);
          await erase(receiver, WHERE);
          expect([await found(CUSTOMER), await found("cus_other")]).toEqual([0, 1]);
        } finally {
          await store.close();
        }
      },
      OPTIONS,
    ));
});

it("a backup after an erasure does not have the value", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      await deliverAll(receiver);
      await erase(receiver, WHERE);
      const path = databaseFile(receiver.target);
      await backupSqlite(path, `${path}.backup`);
      expect(await readFile(`${path}.backup`, "latin1")).not.toContain(CUSTOMER);
    },
    OPTIONS,
  ));

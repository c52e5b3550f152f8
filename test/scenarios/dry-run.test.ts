import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ReplayView } from "../../src/admin-client/index.ts";
import { defineHandler, sql } from "../../src/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { event, type TestReceiver, withReceiver } from "../support/receiver.ts";

const plan = { fails: true, statements: 1, notifications: 1 };
const handlers = [
  defineHandler({
    type: "busy",
    data: z.object({ secret: z.string() }),
    async handle({ event, tx, notify }) {
      if (plan.fails && plan.statements === 1) throw new Error("down");
      const updated_at = new Date().toISOString();
      const order = { status: event.data.secret, amount: 1, event_id: "-", updated_at };
      await tx.query
        .insertInto("orders")
        .values({ ...order, order_id: event.event_id })
        .execute();
      if (event.data.secret === "long") await tx.execute(`SELECT 1 AS one -- ${"x".repeat(5_000)}`);
      for (let more = 1; more < plan.statements; more += 1)
        await tx.execute("SELECT 1 AS one WHERE 'token=hunter2hunter2' <> ''");
      const payload = { order_id: event.event_id, access_token: "hunter2hunter2", paid: false };
      for (let sent = 0; sent < plan.notifications; sent += 1) await notify("order.new", payload);
      payload.paid = true;
      if (plan.fails) await sql.raw("SELECT missing FROM nowhere").execute(tx.query);
      if (event.data.secret === "through the driver") void tx.connection;
      return { done: true };
    },
  }),
];

/** Its key is checked by the commit, which a dry run has none of. */
const orphan = defineHandler({
  type: "orphan",
  data: z.object({ secret: z.string() }),
  migrations: [
    {
      name: "families",
      async up({ query }) {
        await sql.raw("CREATE TABLE parents (id text PRIMARY KEY)").execute(query);
        await sql
          .raw("CREATE TABLE orphans (parent text REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)")
          .execute(query);
      },
    },
  ],
  async handle({ tx }) {
    if (plan.fails) throw new Error("down");
    await tx.execute("INSERT INTO orphans (parent) VALUES ('nobody')");
    return { done: true };
  },
});

async function dryRun(
  receiver: TestReceiver,
  data: object,
  over: Partial<typeof plan> = {},
  type = "busy",
): Promise<ReplayView> {
  Object.assign(plan, { fails: true, statements: 1, notifications: 1 });
  const sent = event(type, data);
  expect((await receiver.send(sent)).status).toBe(500);
  Object.assign(plan, { fails: false, ...over });
  const path = `/api/v1/failures/platform/${sent.event_id}/replay?dry_run=true`;
  const answer = await receiver.admin(path, { method: "POST" });
  expect(answer.status).toBe(200);
  conforms("/api/v1/failures/{source}/{event_id}/replay", "post", answer);
  expect(await receiver.count("orders")).toBe(0);
  expect(await receiver.count("oncehook_notifications")).toBe(0);
  expect(await receiver.count("oncehook_attempts")).toBe(0);
  return answer.body as unknown as ReplayView;
}

describe.each(DIALECTS)("a dry run on %s", (dialect) => {
  it("a dry run shows the statements with their rows and the notifications, and no secrets", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "a value of the event" }, { statements: 3 });
        expect(view).toMatchObject({
          outcome: "success",
          dry_run: true,
          statements: [
            { sql: expect.stringMatching(/^insert into "orders" /), rows: 1 },
            { sql: "SELECT 1 AS one WHERE 'token=[masked]' <> ''", rows: 1 },
            { sql: "SELECT 1 AS one WHERE 'token=[masked]' <> ''", rows: 1 },
          ],
          statements_omitted: 0,
          connection_used: false,
          deferred_keys_unchecked: false,
          notifications: [{ topic: "order.new", payload: { access_token: "[masked]", paid: false } }],
          notifications_omitted: 0,
        });
        expect(JSON.stringify(view)).not.toContain("a value of the event");
      },
      { handlers },
    ));

  it("a dry run shows what was done until it failed, and the statement that did", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "x" }, { fails: true, statements: 2 });
        expect(view).toMatchObject({ outcome: "handler_failed", error: expect.stringContaining("nowhere") });
        expect(view.statements?.map(({ rows }) => rows)).toEqual([1, 1, null]);
      },
      { handlers },
    ));

  it("a dry run shows the beginning of a statement that is long", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "long" });
        expect(view.statements?.[1]?.sql).toMatch(/^SELECT 1 AS one -- x{3981}…$/);
      },
      { handlers },
    ));

  it("a dry run does not promise of a deferred foreign key what the commit would refuse", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "x" }, {}, "orphan");
        if (dialect === "postgres") expect(view.outcome).not.toBe("success");
        else expect(view).toMatchObject({ outcome: "success", deferred_keys_unchecked: true });
      },
      { handlers: [orphan] },
    ));

  it("a dry run shows a hundred notifications and counts the others", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "x" }, { notifications: 103 });
        expect(view).toMatchObject({ outcome: "success", notifications_omitted: 3 });
        expect(view.notifications).toHaveLength(100);
      },
      { handlers },
    ));

  it("a dry run shows a hundred statements and counts the others, and says that the driver's connection was taken", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const view = await dryRun(receiver, { secret: "through the driver" }, { statements: 130 });
        expect(view).toMatchObject({ outcome: "success", statements_omitted: 30, connection_used: true });
        expect(view.statements).toHaveLength(100);
      },
      { handlers },
    ));
});

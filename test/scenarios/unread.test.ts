import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { hmac, microsoftGraph } from "../../src/sources/platforms/index.ts";
import type { SourceDefinition } from "../../src/sources/source-definition.ts";
import { type Dialect, describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";

const SECRET = "the secret that the shop and we share";
const DAY_MS = 86_400_000;
const T0 = Date.parse("2026-10-01T00:00:00Z");

type Settings = Partial<Parameters<typeof hmac>[0]>;

/** The place of an event's type as the contract knew it, and as the platform has it by now. */
const MENDED = ["body.kind", "body.type"];

const shop = (settings: Settings = {}) =>
  hmac({
    secret: SECRET,
    signature: { header: "X-Signature", encoding: "hex" },
    signed: "{timestamp}.{body}",
    timestamp: { header: "X-Time", unit: "seconds", toleranceSeconds: 300 },
    id: "body.id",
    type: "body.kind",
    ...settings,
  });

interface Round {
  readonly shop: SourceDefinition;
  /** Milliseconds since the Unix epoch. */
  readonly at?: number;
  readonly fails?: boolean;
  readonly use: (receiver: TestReceiver) => Promise<void>;
}

/** Receivers one after the other on one database: what comes while the cause is there, and then with it mended. */
function inTurn(dialect: Dialect, env: Record<string, string>, ...rounds: readonly Round[]): Promise<void> {
  return withMigrated(dialect, async (target) => {
    for (const { shop, at, fails = false, use } of rounds) {
      const clock = at === undefined ? {} : { clock: { now: () => new Date(at) } };
      const handlers = [handlerOf(fails)];
      const receiver = await startReceiver(target, {
        env,
        sources: { shop },
        handlers,
        migrations,
        ...clock,
      });
      try {
        await use(receiver);
      } finally {
        await receiver.stop();
      }
    }
  });
}

const migrations = [
  {
    name: "effects",
    async up(tx: { execute(sql: string): Promise<unknown> }) {
      await tx.execute("CREATE TABLE effects (event_id text, note text)");
    },
  },
];

const handlerOf = (fails: boolean) =>
  defineHandler({
    source: "shop",
    type: "*",
    data: z.looseObject({ note: z.string().default("") }),
    orderBy: "data.order",
    dropStale: true,
    async handle({ event, tx }) {
      if (fails) throw new Error("the ledger of the shop is closed");
      await tx.execute(`INSERT INTO effects VALUES ('${event.event_id}', '${event.data.note}')`);
      return {};
    },
  });

interface Sent {
  /** When it was signed, in seconds. */
  readonly time?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function deliver(receiver: TestReceiver, event: object, { time, headers }: Sent = {}): Promise<number> {
  const body = JSON.stringify(event);
  const signedAt = String(time ?? Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", SECRET).update(`${signedAt}.${body}`).digest("hex");
  const response = await fetch(`${receiver.publicOrigin}/api/shop/callback`, {
    method: "POST",
    body,
    headers: { "x-time": signedAt, "x-signature": digest, ...headers },
  });
  await response.arrayBuffer();
  return response.status;
}

type Failure = Record<"event_id" | "event_type" | "state" | "first_failed_at", string>;

const failures = async (receiver: TestReceiver) =>
  ((await receiver.admin("/api/v1/failures")).body as { items: Failure[] }).items;

async function replayAll(receiver: TestReceiver): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const { event_id } of await failures(receiver)) {
    const path = `/api/v1/failures/shop/${encodeURIComponent(event_id)}/replay`;
    const { body } = await receiver.admin(path, { method: "POST" });
    outcomes.push((body as { outcome: string }).outcome);
  }
  return outcomes;
}

const notes = async ({ target }: TestReceiver) =>
  (await rowsOf(target, "SELECT note FROM effects")).map(({ note }) => note).toSorted();
const ids = async ({ target }: TestReceiver) =>
  (await rowsOf(target, "SELECT event_id FROM oncehook_records ORDER BY event_id")).map(({ event_id }) => event_id);

const now = () => Math.floor(Date.now() / 1000);

describeFullOnPostgres("a callback that its contract cannot read, on %s", (dialect) => {
  it.each(["sha256", "body.number"])(
    "two unreadable events of equal bytes that were signed at two times are kept and run as two, with the id at %s",
    (id) =>
      inTurn(
        dialect,
        {},
        {
          shop: shop({ id }),
          async use(receiver) {
            for (const time of [now() - 20, now() - 10])
              expect(await deliver(receiver, { type: "paid", note: "5" }, { time })).toBe(200);
            expect(await failures(receiver)).toHaveLength(2);
          },
        },
        {
          shop: shop({ id: "sha256", type: MENDED }),
          async use(receiver) {
            expect(await replayAll(receiver)).toEqual(["success", "success"]);
            expect([await notes(receiver), await failures(receiver)]).toEqual([["5", "5"], []]);
          },
        },
      ),
  );

  it.each<[string, Settings]>([
    ["an id that its contract can read", {}],
    ["a renewed timestamp that its identity leaves out", { id: "sha256", renewsTimestamp: true }],
  ])("a retry of an unreadable event adds no second kept event, by %s", (_, settings) =>
    inTurn(
      dialect,
      {},
      {
        shop: shop({ ...settings, attemptFields: ["body.retries"] }),
        async use(receiver) {
          for (const [retries, time] of [now() - 20, now() - 10].entries())
            await deliver(receiver, { id: "e1", type: "paid", retries }, { time });
          expect(await failures(receiver)).toMatchObject([{ state: "rejected", attempts: 2 }]);
          await deliver(receiver, { id: "e1", type: "refunded" });
          expect(await failures(receiver)).toHaveLength(2);
        },
      },
    ),
  );

  it("two deliveries of equal bytes are two kept events where each delivery is an event", () =>
    inTurn(
      dialect,
      {},
      {
        shop: shop({ identity: "delivery", id: "header.X-Id" }),
        async use(receiver) {
          for (let count = 0; count < 2; count += 1)
            await deliver(receiver, { type: "synced", note: "hint" }, { time: now() });
          expect(await failures(receiver)).toHaveLength(2);
        },
      },
      {
        shop: shop({ identity: "delivery", id: "header.X-Id", type: MENDED }),
        async use(receiver) {
          expect(await replayAll(receiver)).toEqual(["success", "success"]);
          expect(await notes(receiver)).toEqual(["hint", "hint"]);
        },
      },
    ));

  it("an unreadable event that is replayed has the time at which it came, and is stale after a newer one", () =>
    inTurn(
      dialect,
      {},
      {
        shop: shop(),
        at: T0,
        use: async (receiver) =>
          void (await deliver(receiver, { id: "e1", type: "order", order: "o1", note: "unpaid" }, { time: T0 / 1000 })),
      },
      {
        shop: shop({ type: MENDED }),
        at: T0 + DAY_MS,
        async use(receiver) {
          const newer = { id: "e2", type: "order", order: "o1", note: "paid" };
          await deliver(receiver, newer, { time: (T0 + DAY_MS) / 1000 });
          expect(await replayAll(receiver)).toEqual(["success"]);
          expect([await notes(receiver), await ids(receiver)]).toEqual([["paid"], ["e1", "e2"]]);
        },
      },
    ));

  it("an unreadable event runs in a replay after records of its age are gone, and its failure keeps its first time", () => {
    const timed: Settings = { hasSignedTime: true, eventTime: { at: "body.time", unit: "seconds" } };
    const later = { shop: shop({ ...timed, type: MENDED }), at: T0 + 40 * DAY_MS };
    return inTurn(
      dialect,
      { RECORD_RETENTION_DAYS: "30", LOG_RETENTION_DAYS: "30" },
      {
        shop: shop(timed),
        at: T0,
        use: async (receiver) =>
          void (await deliver(receiver, { id: "e1", type: "order", time: T0 / 1000 }, { time: T0 / 1000 })),
      },
      {
        ...later,
        fails: true,
        async use(receiver) {
          expect(await replayAll(receiver)).toEqual(["handler_failed"]);
          const kept = { event_id: "e1", state: "waiting", first_failed_at: new Date(T0).toISOString() };
          expect(await failures(receiver)).toMatchObject([kept]);
        },
      },
      {
        ...later,
        async use(receiver) {
          expect(await replayAll(receiver)).toEqual(["success"]);
          expect([await ids(receiver), await failures(receiver)]).toEqual([["e1"], []]);
        },
      },
    );
  });

  it("a hint that ran beside an unreadable event of its batch runs in no replay of it, and its equal runs once too", () => {
    const hint = { subscriptionId: "s1", clientState: SECRET, changeType: "updated", note: "hint" };
    const unreadable = { subscriptionId: "s1", clientState: SECRET, note: "of a new shape" };
    return inTurn(
      dialect,
      {},
      {
        shop: microsoftGraph({ secret: SECRET }),
        async use(receiver) {
          await deliver(receiver, { value: [hint, unreadable, hint] });
          const ran = await ids(receiver);
          for (let count = 0; count < 3; count += 1) expect(await replayAll(receiver)).toEqual(["event_type_missing"]);
          expect([await notes(receiver), await ids(receiver)]).toEqual([["hint", "hint"], ran]);
        },
      },
    );
  });

  it("a contract that is mended to read another header reads it of a kept callback, which is kept without credentials", () =>
    inTurn(
      dialect,
      {},
      {
        shop: shop(),
        async use(receiver) {
          const headers = { "x-shop-event": "paid", authorization: "Bearer of the gateway" };
          await deliver(receiver, { id: "e1" }, { headers });
        },
      },
      {
        shop: shop({ type: ["body.kind", "header.X-Signature", "header.Authorization"] }),
        async use(receiver) {
          expect(await replayAll(receiver)).toEqual(["event_type_missing"]);
        },
      },
      {
        shop: shop({ type: ["body.kind", "header.X-Shop-Event"], headers: ["X-Shop-Event"] }),
        async use(receiver) {
          expect(await replayAll(receiver)).toEqual(["success"]);
          expect(await ids(receiver)).toEqual(["e1"]);
        },
      },
    ));
});

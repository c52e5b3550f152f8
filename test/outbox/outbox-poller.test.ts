import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fixedRetries } from "../../src/domain/index.ts";
import { createMask } from "../../src/observability/index.ts";
import {
  type Channel,
  createAllowedAddresses,
  createOutboxPoller,
  emailChannel,
  logChannel,
  webhookChannel,
} from "../../src/outbox/index.ts";
import type { ListedNotification, Store } from "../../src/store/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord, rowsOf } from "../support/effects.ts";
import { withHttpServer } from "../support/http-server.ts";
import { type MailServer, mailLogin, WEBHOOK_SECRET, withMailServer } from "../support/notified.ts";
import { runOnce } from "../support/once.ts";
import { overriding } from "../support/overriding.ts";
import { until } from "../support/until.ts";

const NOTIFICATIONS = 20;
const LOOPBACK = createAllowedAddresses(["127.0.0.0/8"]);

function notify(store: Store, count: number): Promise<unknown> {
  return runOnce(
    store,
    newRecord("e1"),
    async ({ enqueue }) => {
      for (let number = 0; number < count; number += 1) await enqueue({ topic: "t", payload: { number } });
      return { result: {} };
    },
    committing(),
  );
}

function loopOf(store: Store, channels: readonly Channel[], attempts = 3): ReturnType<typeof createOutboxPoller> {
  return createOutboxPoller({
    outbox: store.outbox,
    deliveries: store.notificationDeliveries,
    channels,
    policy: fixedRetries(attempts - 1, 0.01),
    clock: systemClock,
    log: recordedLog(),
    describe: String,
    attempted: () => {},
  });
}

const webhook = (url: string) => webhookChannel({ url, secret: WEBHOOK_SECRET, addresses: LOOPBACK });

function email({ port, ca }: MailServer): Channel {
  const url = `smtps://${mailLogin()}@127.0.0.1:${port}`;
  const to = ["shop@example.com", "books@example.com"];
  return emailChannel({ url, from: "oncehook@example.com", to, addresses: LOOPBACK, ca: [ca] });
}

async function deliveries(store: Store): Promise<ListedNotification["deliveries"][number][]> {
  return (await store.notifications.list({ limit: 100 }, {})).flatMap((one) => one.deliveries);
}

const settled = async (store: Store) => {
  const made = await deliveries(store);
  return made.length > 0 && made.every(({ state }) => state !== "waiting");
};

describe.each(DIALECTS)("the outbox on %s", (dialect) => {
  it("the outbox does not let a channel whose receiver never answers keep another one waiting", {
    tags: "full",
  }, () => {
    const held: ServerResponse[] = [];
    return withStore(dialect, (store) =>
      withHttpServer(
        (_request, response) => held.push(response),
        async (url) => {
          await notify(store, NOTIFICATIONS);
          const log = recordedLog();
          const loop = loopOf(store, [webhook(url), logChannel(log, createMask({}).json)]);
          loop.start(10);
          await until(() => log.lines.length === NOTIFICATIONS && held.length > 0);
          expect(held.filter(({ writableEnded }) => writableEnded)).toEqual([]);
          for (const response of held) response.end();
          await loop.stop();
        },
      ),
    );
  });

  it("the outbox masks the secrets and card numbers of a payload that the log channel writes", () =>
    withStore(dialect, async (store) => {
      const payload = {
        order_id: "o1",
        card: "4111111111111111",
        note: "paid by 4111 1111 1111 1111",
        access_token: "t0k",
      };
      await runOnce(
        store,
        newRecord("e1"),
        async ({ enqueue }) => {
          await enqueue({ topic: "paid", payload });
          return { result: {} };
        },
        committing(),
      );
      const log = recordedLog();
      const loop = loopOf(store, [logChannel(log, createMask({}).json)]);
      loop.start(10);
      await until(() => log.lines.length === 1);
      await loop.stop();
      expect(log.lines[0]?.fields.payload).toEqual({
        order_id: "o1",
        card: "[masked]",
        note: "paid by [masked]",
        access_token: "[masked]",
      });
    }));

  it("the outbox passes what a second has brought on to the log in small parts, so that callbacks are handled between them", () =>
    withStore(dialect, async (store) => {
      await notify(store, 200);
      const parts: number[] = [];
      const channel: Channel = {
        ...logChannel(recordedLog(), createMask({}).json),
        deliverNow() {
          if (parts.length === 0 || isNewTurn) parts.push(0);
          isNewTurn = false;
          parts[parts.length - 1] = (parts.at(-1) ?? 0) + 1;
          setImmediate(() => {
            isNewTurn = true;
          });
        },
      };
      let isNewTurn = false;
      await loopOf(store, [channel]).round();
      expect(parts).toEqual([...Array<number>(6).fill(32), 8]);
    }));

  it("the outbox does not let one notification that is never answered keep the others of its channel waiting", () => {
    let taken = 0;
    let held: ServerResponse | undefined;
    return withStore(dialect, (store) =>
      withHttpServer(
        (_request, response) => {
          if (held !== undefined) {
            response.end();
            taken += 1;
          } else held = response;
        },
        async (url) => {
          await notify(store, 3 * NOTIFICATIONS);
          const loop = loopOf(store, [webhook(url)]);
          loop.start(10);
          await until(() => taken === 3 * NOTIFICATIONS - 1);
          expect(held?.writableEnded).toBe(false);
          held?.end();
          await loop.stop();
        },
      ),
    );
  });

  it("the outbox counts no attempt that was given up because the process stops", {
    tags: "full",
  }, () => {
    let asked = 0;
    return withStore(dialect, (store) =>
      withHttpServer(
        () => {
          asked += 1;
        },
        async (url) => {
          await notify(store, 1);
          const loop = loopOf(store, [webhook(url)], 1);
          loop.start(10);
          await until(() => asked === 1);
          await loop.stop();
          expect(await deliveries(store)).toMatchObject([{ state: "waiting", attempts: 0, error: null }]);
          const again = { owner: "next", now: new Date(), until: new Date(Date.now() + 1_000) };
          expect(await store.notificationDeliveries.leaseDue(["webhook"], again, 1)).toHaveLength(1);
        },
      ),
    );
  });

  it("the outbox gives a delivery up whose last attempt ended with the process that made it", () => {
    let asked = 0;
    return withStore(dialect, (store) =>
      withHttpServer(
        (_request, response) => {
          asked += 1;
          response.writeHead(204).end();
        },
        async (url) => {
          await notify(store, 1);
          const past = new Date(Date.now() - 60_000);
          await store.outbox.fanOut(["webhook"], past, 10);
          const died = { owner: "died", now: past, until: past };
          await store.notificationDeliveries.leaseDue(["webhook"], died, 10);
          await store.notificationDeliveries.leaseExpired(["webhook"], died);
          const loop = loopOf(store, [webhook(url)], 1);
          loop.start(10);
          await until(() => settled(store));
          await loop.stop();
          expect(await deliveries(store)).toMatchObject([
            { state: "dead", attempts: 1, error: expect.stringContaining("none of the 1 attempts is left") },
          ]);
          expect(asked).toBe(0);
        },
      ),
    );
  });

  it("the outbox mails those again, and only those, whom the server did not take at first", () =>
    withMailServer({ secure: true }, (server) =>
      withStore(dialect, async (store) => {
        const later = { responseCode: 450, message: "greylisted" };
        server.refusedRecipients.set("books@example.com", [later, later]);
        await notify(store, 1);
        const loop = loopOf(store, [email(server)]);
        loop.start(10);
        await until(() => settled(store));
        await loop.stop();
        expect(server.mails.map(({ to }) => to)).toEqual([["shop@example.com"], ["books@example.com"]]);
        expect(await deliveries(store)).toMatchObject([
          { channel: "email:shop@example.com", state: "delivered", attempts: 1 },
          { channel: "email:books@example.com", state: "delivered", attempts: 3 },
        ]);
      }),
    ));

  it("the outbox reports each recipient that the server refuses for good, and mails the others once", () =>
    withMailServer({ secure: true }, (server) =>
      withStore(dialect, async (store) => {
        server.refusedRecipients.set("books@example.com", [{ responseCode: 550, message: "no such user" }]);
        await notify(store, 1);
        const loop = loopOf(store, [email(server)]);
        loop.start(10);
        await until(() => settled(store));
        await loop.stop();
        expect(server.mails.map(({ to }) => to)).toEqual([["shop@example.com"]]);
        expect(await deliveries(store)).toMatchObject([
          { channel: "email:shop@example.com", state: "delivered" },
          { channel: "email:books@example.com", state: "dead", attempts: 1 },
        ]);
      }),
    ));
});

describe("the outbox", () => {
  it("the outbox tries what ended processes left one by one, and what is due beside it", () =>
    withStore("sqlite", async (store) => {
      await notify(store, 4);
      const past = new Date(Date.now() - 60_000);
      await store.outbox.fanOut(["slow"], past, 10);
      const left = await store.notificationDeliveries.leaseDue(["slow"], { owner: "died", now: past, until: past }, 2);
      const isLeft = new Set(left.map(({ notification }) => notification.id));
      const gate = Promise.withResolvers<void>();
      const ran: string[] = [];
      const channel: Channel = {
        name: "slow",
        destinations: ["slow"],
        timeLimitMs: 20_000,
        async deliver({ id }) {
          const kind = isLeft.has(id) ? "left" : "due";
          ran.push(kind);
          if (ran.length === 3) gate.resolve();
          if (kind === "left") await gate.promise;
        },
      };
      await loopOf(store, [channel]).round();
      expect(ran).toEqual(["left", "due", "due", "left"]);
    }));

  it("the outbox leases a delivery for longer than its attempt may take", () =>
    withStore("sqlite", async (store, target) => {
      await notify(store, 1);
      const timeLimitMs = 20_000;
      const leases: number[] = [];
      const channel: Channel = {
        name: "slow",
        destinations: ["slow"],
        timeLimitMs,
        async deliver() {
          const [row] = await rowsOf(target, "SELECT leased_until FROM oncehook_deliveries");
          leases.push(Date.parse(String(row?.leased_until)) - Date.now());
        },
      };
      await loopOf(store, [channel]).round();
      expect(leases).toHaveLength(1);
      expect(leases[0]).toBeGreaterThan(timeLimitMs);
    }));

  it.each([
    ["passed on", [logChannel(recordedLog(), createMask({}).json)]],
    ["spread", [webhook("http://127.0.0.1/")]],
  ])("the outbox stops although there are always more notifications to be %s", (_what, channels) =>
    withStore("sqlite", async (store) => {
      let steps = 0;
      const endless = async (...given: unknown[]) => {
        steps += 1;
        await nextTurn();
        return given.find((one) => typeof one === "number") as number;
      };
      const outbox = overriding(store.outbox, { fanOut: endless, deliverDirectly: endless });
      const loop = loopOf({ ...store, outbox }, channels);
      loop.start(1);
      await until(() => steps > 3);
      await loop.stop();
      const atStop = steps;
      await nextTurn();
      expect(steps).toBe(atStop);
    }),
  );
});

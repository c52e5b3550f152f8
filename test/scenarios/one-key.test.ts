import { createHmac, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Handler } from "../../src/handlers/index.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { twilio } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";

/** Its ids and types stand in headers, which it does not sign. */
const unsignedShop = (over: Parameters<typeof shop>[0] = {}): SourceDefinition =>
  shop({ id: "header.X-Id", type: "header.X-Type", ...over });

interface Sent {
  readonly id: string;
  readonly type?: string;
  readonly query?: string;
}

/** Sends these bytes under any id and type, as a reader of one callback can. */
async function send(receiver: TestReceiver, content: object, sent: Sent, source = unsignedShop()) {
  const { id, type = "order", query = "" } = sent;
  const body = Buffer.from(JSON.stringify(content));
  const target = `/api/shop/callback${query}`;
  const headers = { "X-Id": id, "X-Type": type };
  const signed = source.sign?.({ body, headers, target, now: new Date() });
  const response = await fetch(receiver.publicOrigin + target, {
    method: "POST",
    body,
    headers: { ...headers, ...signed },
  });
  return { status: response.status, said: ((await response.json()) as { status?: string }).status };
}

/** Handlers that count their runs; `prepare` waits until it is opened. */
function counting({ fails = () => false }: { fails?: () => boolean } = {}) {
  const gate = Promise.withResolvers<void>();
  const runs = { prepared: 0, handled: [] as string[] };
  const orders = defineHandler({
    source: "shop",
    type: "order",
    data: z.object({}),
    async prepare() {
      runs.prepared += 1;
      await gate.promise;
      return null;
    },
    async handle({ event }) {
      if (fails()) throw new Error("the other system is away");
      runs.handled.push(event.event_id);
      return {};
    },
  });
  const refunds = defineHandler({
    source: "shop",
    type: "refund",
    data: z.object({}),
    async handle({ event }) {
      runs.handled.push(`refund ${event.event_id}`);
      return {};
    },
  });
  return { runs, handlers: [orders, refunds] as Handler[], open: () => gate.resolve() };
}

const options = (source: SourceDefinition, handlers: Handler[]): ReceiverOptions => ({
  sources: { shop: source },
  handlers,
});

const SUCCESS = { status: 200, said: "success" };
const DUPLICATE = { status: 200, said: "already_processed" };

describeFullOnPostgres("the key of an event whose id is not signed on %s", (dialect) => {
  const withShop = (
    over: Parameters<typeof shop>[0],
    counted: ReturnType<typeof counting>,
    use: (receiver: TestReceiver) => Promise<void>,
  ) => withReceiver(dialect, use, options(unsignedShop(over), counted.handlers));

  it("equal bytes under the platform's ids are events that run once each", () => {
    const counted = counting();
    counted.open();
    return withShop({}, counted, async (receiver) => {
      for (const id of ["added", "removed", "added again"])
        expect(await send(receiver, { n: 1 }, { id })).toEqual(SUCCESS);
      expect(await send(receiver, { n: 1 }, { id: "removed" })).toEqual(DUPLICATE);
      expect(counted.runs.handled).toEqual(["added", "removed", "added again"]);
    });
  });

  it("an event whose bytes are its key prepares and runs once, whatever ids its retries have", () => {
    const { runs, handlers, open } = counting();
    return withShop({ identity: "bytes" }, { runs, handlers, open }, async (receiver) => {
      const first = send(receiver, { n: 1 }, { id: "1" });
      await until(() => runs.prepared === 1);
      const retries = Array.from({ length: 8 }, () => send(receiver, { n: 1 }, { id: randomUUID() }));
      open();
      expect(await first).toEqual(SUCCESS);
      expect(await Promise.all(retries)).toEqual(Array(8).fill(DUPLICATE));
      expect(runs.prepared).toBe(1);
      expect(runs.handled).toHaveLength(1);
      expect(await send(receiver, { n: 2 }, { id: "1" })).toEqual(SUCCESS);
      expect(runs.handled).toHaveLength(2);
      expect(await receiver.count("oncehook_preparations")).toBe(0);
    });
  });

  it("an event whose bytes are its key and that failed runs at a retry under another id, once", () => {
    let isAway = true;
    const counted = counting({ fails: () => isAway });
    counted.open();
    return withShop({ identity: "bytes" }, counted, async (receiver) => {
      expect((await send(receiver, { n: 1 }, { id: "1" })).status).toBe(500);
      expect(await receiver.count("oncehook_failures")).toBe(1);
      isAway = false;
      expect(await send(receiver, { n: 1 }, { id: "2" })).toEqual(SUCCESS);
      expect(await send(receiver, { n: 1 }, { id: "3" })).toEqual(DUPLICATE);
      expect(await receiver.count("oncehook_failures")).toBe(0);
      expect(counted.runs.handled).toHaveLength(1);
    });
  });

  it.each(["after", { within: "100ms" }] as const)(
    "an event whose bytes are its key is accepted once under several ids with the answer %j",
    (answer) => {
      const { runs, handlers, open } = counting();
      return withShop({ identity: "bytes", answer }, { runs, handlers, open }, async (receiver) => {
        for (const id of ["1", "2", "3"])
          expect(await send(receiver, { n: 1 }, { id })).toEqual({ status: 200, said: "accepted" });
        expect(await receiver.count("oncehook_failures")).toBe(1);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 1);
        expect(runs.handled).toHaveLength(1);
      });
    },
  );

  it("each delivery runs of a source that has neither ids nor times", () => {
    const counted = counting();
    counted.open();
    return withShop({ identity: "delivery" }, counted, async (receiver) => {
      const said = await Promise.all([1, 2, 3].map(() => send(receiver, { n: 1 }, { id: "1" })));
      expect(said).toEqual(Array(3).fill(SUCCESS));
      expect(new Set(counted.runs.handled).size).toBe(3);
    });
  });

  it("a type that is ignored leaves nothing that could stop an event of the same bytes", () => {
    const counted = counting();
    counted.open();
    return withShop({ identity: "bytes" }, counted, async (receiver) => {
      const ignored = await send(receiver, { n: 1 }, { id: "a", type: "other" });
      expect(ignored).toEqual({ status: 200, said: "ignored" });
      expect(await send(receiver, { n: 1 }, { id: "b" })).toEqual(SUCCESS);
      expect(counted.runs.handled).toHaveLength(1);
    });
  });

  it.each([
    ["a header", { signed: "{header.X-Id}.{body}" }, (id: string) => ({ id })],
    [
      "the query",
      { signed: "{method} {target}", id: "query.id", body: "none" },
      (id: string) => ({ id, query: `?id=${id}` }),
    ],
  ] as const)("events of equal bodies whose ids are signed in %s are events of their own", (_place, over, sent) => {
    const { runs, handlers, open } = counting();
    open();
    const source = unsignedShop(over);
    return withReceiver(
      dialect,
      async (receiver) => {
        for (const id of ["a", "b", "c"])
          expect(await send(receiver, {}, sent(id), source)).toEqual({ status: 200, said: "success" });
        expect(runs.handled).toEqual(["a", "b", "c"]);
      },
      options(source, handlers),
    );
  });

  it("a form of Twilio that was taken apart in another way is no other event", () => {
    const types: string[] = [];
    const handler = defineHandler({
      source: "phone",
      type: "*",
      data: z.object({}),
      async handle({ event }) {
        types.push(event.event_type);
        return {};
      },
    });
    const token = "the auth token of the account";
    return withReceiver(
      dialect,
      async (receiver) => {
        const url = `${receiver.publicOrigin}/api/phone/callback`;
        const text = "MessageSidSM1MessageStatusdelivered";
        const signature = createHmac("sha1", token)
          .update(url + text)
          .digest("base64");
        const deliver = async (form: string) => {
          const response = await fetch(`${receiver.publicOrigin}/api/phone/callback`, {
            method: "POST",
            body: form,
            headers: {
              "content-type": "application/x-www-form-urlencoded",
              "x-twilio-signature": signature,
            },
          });
          return response.status;
        };
        const forms = [
          "MessageSid=SM1&MessageStatus=delivered",
          "MessageStatus=delivered&MessageSid=SM1&",
          "MessageSid=SM1&MessageStatusd=elivered",
        ];
        for (const form of forms) expect(await deliver(form)).toBe(200);
        expect(types).toEqual(["message.delivered"]);
      },
      { sources: { phone: twilio({ secret: token }) }, handlers: [handler] },
    );
  });
});

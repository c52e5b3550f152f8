import { createHmac, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type Handler } from "../../src/handlers/index.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { twilio } from "../../src/sources/presets/index.ts";
import { DIALECTS, type Dialect } from "../support/databases.ts";
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

describe.each(DIALECTS)("captured bytes of an unsigned id on %s", (dialect: Dialect) => {
  it("copies under other ids neither prepare nor run, while the event is at work and afterwards", () => {
    const { runs, handlers, open } = counting();
    return withReceiver(
      dialect,
      async (receiver) => {
        const genuine = send(receiver, { n: 1 }, { id: "genuine" });
        await until(() => runs.prepared === 1);
        const copies = await Promise.all(
          Array.from({ length: 8 }, () => send(receiver, { n: 1 }, { id: randomUUID() })),
        );
        expect(copies.map(({ status }) => status)).toEqual(Array(8).fill(503));
        open();
        expect(await genuine).toEqual({ status: 200, said: "success" });
        expect(await send(receiver, { n: 1 }, { id: "later" })).toEqual({
          status: 200,
          said: "already_processed",
        });
        expect(runs).toEqual({ prepared: 1, handled: ["genuine"] });
        expect(await receiver.count("oncehook_preparations")).toBe(0);
      },
      options(unsignedShop(), handlers),
    );
  });

  it("a copy of another type does not take the place of an event that failed and is retried", () => {
    let isAway = true;
    const { runs, handlers, open } = counting({ fails: () => isAway });
    open();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await send(receiver, { n: 1 }, { id: "genuine" })).status).toBe(500);
        expect((await send(receiver, { n: 1 }, { id: "copy", type: "refund" })).status).toBe(503);
        isAway = false;
        expect(await send(receiver, { n: 1 }, { id: "genuine" })).toEqual({ status: 200, said: "success" });
        expect(runs.handled).toEqual(["genuine"]);
      },
      options(unsignedShop(), handlers),
    );
  });

  it("a copy of another type does not displace an event that was accepted within its time", () => {
    const { runs, handlers, open } = counting();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await send(receiver, { n: 1 }, { id: "genuine" })).toEqual({ status: 200, said: "accepted" });
        expect((await send(receiver, { n: 1 }, { id: "copy", type: "refund" })).status).toBe(503);
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 1);
        expect(runs.handled).toEqual(["genuine"]);
      },
      options(unsignedShop({ answer: { within: "100ms" } }), handlers),
    );
  });

  it("a copy under the id of an event to come is not accepted in its place", () => {
    const { runs, handlers, open } = counting();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await send(receiver, { n: 1 }, { id: "1" })).said).toBe("accepted");
        expect((await send(receiver, { n: 1 }, { id: "2" })).status).toBe(503);
        expect((await send(receiver, { n: 2 }, { id: "2" })).said).toBe("accepted");
        open();
        await until(async () => (await receiver.count("oncehook_records")) === 2);
        expect(runs.handled.sort()).toEqual(["1", "2"]);
      },
      options(unsignedShop({ answer: "after" }), handlers),
    );
  });

  it("a type that is ignored claims nothing", () => {
    const { runs, handlers, open } = counting();
    open();
    return withReceiver(
      dialect,
      async (receiver) => {
        expect(await send(receiver, { n: 1 }, { id: "a", type: "other" })).toEqual({
          status: 200,
          said: "ignored",
        });
        expect(await send(receiver, { n: 1 }, { id: "b" })).toEqual({ status: 200, said: "success" });
        expect(runs.handled).toEqual(["b"]);
      },
      options(unsignedShop(), handlers),
    );
  });

  it.each([
    ["a header", { signed: "{header.X-Id}.{body}" }, (id: string) => ({ id })],
    [
      "the query",
      { signed: "{method} {target}", id: "query.id", body: "none" },
      (id: string) => ({ id, query: `?id=${id}` }),
    ],
  ] as const)(
    "events of equal bodies whose ids are signed in %s are events of their own",
    (_place, over, sent) => {
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
    },
  );

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

import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { github, hmac, stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";

const SECRETS = { stripe: "whsec_of_the_stripe_endpoint", github: "a secret that GitHub was given" };
const SOURCES: Record<string, SourceDefinition> = {
  stripe: stripe({ secret: SECRETS.stripe }),
  github: github({ secret: SECRETS.github }),
};

/** Both platforms from the environment alone, as a newcomer has them. */
const fromEnvironment = {
  env: { SOURCES: "stripe,github", STRIPE_SECRET: SECRETS.stripe, GITHUB_SECRET: SECRETS.github },
};

interface Post {
  readonly headers?: Record<string, string>;
  /** Signed with another source's secret. */
  readonly signedBy?: string;
  readonly path?: string;
}

async function post(receiver: TestReceiver, source: string, event: unknown, options: Post = {}) {
  const { headers = {}, signedBy = source, path = `/api/${source}/callback` } = options;
  const body = Buffer.from(JSON.stringify(event));
  const signed = SOURCES[signedBy]?.sign?.({ body, headers, target: path, now: new Date() });
  const request = {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers, ...signed },
  };
  const response = await fetch(receiver.publicOrigin + path, request);
  return { status: response.status, body: (await response.json()) as { status?: string } };
}

const invoice = (over: object = {}) => ({
  id: `evt_${randomUUID()}`,
  object: "event",
  type: "invoice.paid",
  created: 1_766_000_000,
  data: { object: { id: "in_1", amount_paid: 1_200 } },
  ...over,
});
const delivery = (id: string) => ({ "x-github-delivery": id, "x-github-event": "issues" });

const events = (receiver: TestReceiver) =>
  rowsOf(receiver.target, "SELECT source, id, type, data FROM events ORDER BY source, id");

describeFullOnPostgres("callbacks of platforms on %s", (dialect) => {
  it("an event of a platform in SOURCES is stored once, without a handler of one's own", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const event = invoice();
        expect(await post(receiver, "stripe", event)).toMatchObject({
          status: 200,
          body: { status: "success" },
        });
        expect(await post(receiver, "stripe", event)).toMatchObject({
          status: 200,
          body: { status: "already_processed" },
        });
        const [row, ...others] = await events(receiver);
        expect(others).toEqual([]);
        expect(row).toMatchObject({ source: "stripe", id: event.id, type: "invoice.paid" });
        expect(JSON.parse(String(row?.data))).toEqual(event);
      },
      fromEnvironment,
    ));

  it("equal event ids of two platforms are two events", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await post(receiver, "stripe", invoice({ id: "evt_1" }));
        await post(receiver, "github", { action: "opened" }, { headers: delivery("evt_1") });
        await receiver.send(payment({ event_id: "evt_1" }));
        expect(await receiver.count("oncehook_records", "event_id = 'evt_1'")).toBe(3);
        expect(await events(receiver)).toHaveLength(2);
      },
      fromEnvironment,
    ));

  it("a callback signed with another platform's secret returns 401", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const event = invoice();
        const body = Buffer.from(JSON.stringify(event));
        const headers = stripe({ secret: SECRETS.github }).sign?.({ body, now: new Date() }) ?? {};
        const url = `${receiver.publicOrigin}/api/stripe/callback`;
        const { status } = await fetch(url, { method: "POST", body, headers });
        expect(status).toBe(401);
        expect(await receiver.count("oncehook_records")).toBe(0);
      },
      fromEnvironment,
    ));

  it("a member that is added, removed and added again is three events, and a redelivery is none", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const event = { action: "opened", issue: { number: 7 } };
        const deliver = (id: string) => post(receiver, "github", event, { headers: delivery(id) });
        for (const id of ["d-1", "d-2", "d-3"])
          expect(await deliver(id)).toMatchObject({ status: 200, body: { status: "success" } });
        const again = await deliver("d-2");
        expect(again).toMatchObject({ status: 200, body: { status: "already_processed" } });
        expect(await events(receiver)).toHaveLength(3);
      },
      fromEnvironment,
    ));

  it("an event type without a handler is ignored with success, and leaves no record", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await post(receiver, "stripe", invoice({ type: "charge.failed" }))).toMatchObject({
          status: 200,
          body: { status: "ignored" },
        });
        expect(await post(receiver, "stripe", invoice())).toMatchObject({ body: { status: "success" } });
        expect(await receiver.count("oncehook_records")).toBe(1);
        const { items } = (await receiver.admin("/api/v1/callbacks?outcome=ignored")).body as {
          items: object[];
        };
        expect(items).toMatchObject([{ source: "stripe", event_type: "charge.failed", response_status: 200 }]);
      },
      { sources: { stripe: SOURCES.stripe as SourceDefinition }, handlers: [invoiceHandler()] },
    ));

  it("a retry of a platform's event gets the event as its callback did", () => {
    const seen: unknown[] = [];
    const failsOnce = defineHandler({
      source: "github",
      type: "issues",
      data: z.object({ action: z.string() }),
      async handle({ event }) {
        seen.push(event);
        if (seen.length === 1) throw new Error("not yet");
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const failed = await post(receiver, "github", { action: "opened" }, { headers: delivery("d-1") });
        expect(failed.status).toBe(500);
        const replayed = await receiver.admin("/api/v1/failures/github/d-1/replay", { method: "POST" });
        expect(replayed.body).toMatchObject({ outcome: "success" });
        expect(seen[1]).toEqual(seen[0]);
        expect(seen[1]).toMatchObject({ event_type: "issues", headers: { "x-github-event": "issues" } });
      },
      { sources: { github: SOURCES.github as SourceDefinition }, handlers: [failsOnce] },
    );
  });

  it("a source of one's own has its own path, header and places of id and type", () => {
    const acme = hmac({
      secret: "the secret of acme",
      path: "/hooks/acme",
      signature: { header: "X-Acme-Signature", prefix: "sha256=", encoding: "hex" },
      signed: "{timestamp}.{body}",
      timestamp: { header: "X-Acme-Time", unit: "seconds", toleranceSeconds: 300 },
      id: "body.id",
      type: "header.X-Acme-Event",
      unhandled: "refuse",
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const body = Buffer.from(JSON.stringify({ id: 7, total: 3 }));
        const signed = acme.sign?.({ body, now: new Date() });
        const url = `${receiver.publicOrigin}/hooks/acme`;
        const send = (type: string) =>
          fetch(url, { method: "POST", body, headers: { ...signed, "x-acme-event": type } });
        expect((await send("unknown")).status).toBe(400);
        expect((await send("order")).status).toBe(200);
        expect(await receiver.count("oncehook_records", "source = 'acme' AND event_id = '7'")).toBe(1);
      },
      {
        sources: { acme },
        handlers: [defineHandler({ source: "acme", type: "order", data: z.object({}), handle: () => ({}) })],
      },
    );
  });
});

function invoiceHandler() {
  return defineHandler({
    source: "stripe",
    type: "invoice.*",
    data: z.object({ data: z.object({ object: z.object({ id: z.string() }) }) }),
    handle: ({ event }) => ({ invoice: event.data.data.object.id }),
  });
}

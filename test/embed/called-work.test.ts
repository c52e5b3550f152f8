import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Receiver } from "../../src/embed/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { asana, stripe } from "../../src/sources/platforms/index.ts";
import { paid, requestOf, STRIPE_SECRET, stripeCallback, VARIABLES, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import type { Target } from "../support/open-target.ts";

/** What waitUntil got of a callback. */
async function sent(receiver: Receiver): Promise<Promise<unknown>[]> {
  const waited: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => void waited.push(promise);
  const response = await receiver.fetch(requestOf(stripeCallback()), { waitUntil });
  expect(response.status).toBe(200);
  return waited;
}

const withInstance = (target: Target, options: object, use: (receiver: Receiver) => Promise<void>) =>
  withApplication(target, ({ receiver }) => use(receiver), options);

describe("the work of a receiver without loops", () => {
  it("waitUntil runs an event that was accepted to run after its answer", () =>
    withDatabase("sqlite", (target) => {
      const runs: string[] = [];
      const source = stripe({ secret: STRIPE_SECRET, answer: "after" });
      const file = { handlers: [paid((id) => runs.push(id))], sources: { billing: source } };
      const use = async ({ receiver }: { receiver: Receiver }) => {
        await Promise.all(await sent(receiver));
        expect(runs).toHaveLength(1);
        expect(await receiver.work()).toEqual({ ran: 0, isDone: true });
      };
      return withApplication(target, use, { background: "none", file });
    }));

  it("waitUntil waits for a run that goes on behind its answer", () =>
    withDatabase("sqlite", (target) => {
      const isAnswered = Promise.withResolvers<void>();
      let isRun = false;
      const handler = defineHandler({
        source: "billing",
        type: "invoice.paid",
        async prepare() {
          await isAnswered.promise;
          return null;
        },
        handle() {
          isRun = true;
          return {};
        },
      });
      const source = stripe({ secret: STRIPE_SECRET, answer: { within: "50ms" } });
      const use = async ({ receiver }: { receiver: Receiver }) => {
        const waited = await sent(receiver);
        expect(isRun).toBe(false);
        isAnswered.resolve();
        await Promise.all(waited);
        expect(isRun).toBe(true);
        expect(await countOf(target, "oncehook_failures")).toBe(0);
      };
      const file = { handlers: [handler], sources: { billing: source } };
      return withApplication(target, use, { background: "none", file });
    }));

  it("work() evaluates the alerts, and delivers those that it starts", () =>
    withDatabase("sqlite", (target) => {
      const fails = paid(() => {
        throw new Error("down");
      });
      const source = stripe({ secret: STRIPE_SECRET, retry: { for: "0s" } });
      const use = async ({ receiver, lines }: Parameters<Parameters<typeof withApplication>[1]>[0]) => {
        expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(500);
        await receiver.work();
        expect(await countOf(target, "oncehook_notifications", "topic = 'alert.failure_exhausted'")).toBe(1);
        const topics = lines.filter(({ msg }) => msg === "notification").map(({ topic }) => topic);
        expect(topics).toEqual(["alert.failure_exhausted"]);
        await receiver.work();
        expect(await countOf(target, "oncehook_notifications")).toBe(1);
      };
      const variables = { ...VARIABLES, ALERTS: "failures", LOG_LEVEL: "info", RETRY_MAX: "0" };
      const file = { handlers: [fails], sources: { billing: source } };
      return withApplication(target, use, { background: "none", variables, file });
    }));

  it("work() begins nothing once its signal has aborted or its budget is spent, and says that not all is done", () =>
    withDatabase("sqlite", (target) => {
      const source = stripe({ secret: STRIPE_SECRET, answer: "after" });
      const use = async ({ receiver }: { receiver: Receiver }) => {
        expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(200);
        const nothing = { ran: 0, isDone: false };
        expect(await receiver.work({ signal: AbortSignal.abort() })).toEqual(nothing);
        const both = await Promise.all([receiver.work(), receiver.work()]);
        expect(both.map(({ ran }) => ran).toSorted()).toEqual([0, 1]);
        expect(both.map(({ isDone }) => isDone)).toEqual([true, true]);
      };
      return withApplication(target, use, { background: "none", file: { sources: { billing: source } } });
    }));

  it("close() waits for a call of work() under way, which begins nothing more", () =>
    withDatabase("sqlite", (target) => {
      const source = stripe({ secret: STRIPE_SECRET, answer: "after" });
      let ended = 0;
      const slow = paid(async () => {
        await sleep(100);
        ended += 1;
      });
      const use = async ({ receiver }: { receiver: Receiver }) => {
        await receiver.fetch(requestOf(stripeCallback()));
        const working = receiver.work();
        await receiver.close();
        expect([await working, ended]).toEqual([{ ran: 1, isDone: false }, 1]);
      };
      return withApplication(target, use, {
        background: "none",
        file: { handlers: [slow], sources: { billing: source } },
      });
    }));

  it("a secret that was forgotten elsewhere verifies nothing in an instance that runs already", () =>
    withDatabase("sqlite", async (target) => {
      const secret = "secret-of-a-webhook-of-asana";
      const body = JSON.stringify({ events: [] });
      const signed = { "x-hook-signature": createHmac("sha256", secret).update(body).digest("hex") };
      const options = { background: "none", file: { handlers: [], sources: { billing: asana({}) } } };
      const send = (receiver: Receiver, headers: Record<string, string>, text = body) =>
        receiver.fetch(requestOf({ id: "", headers: { "content-type": "application/json", ...headers }, body: text }));
      await withInstance(target, options, async (receiver) => {
        expect((await send(receiver, { "x-hook-secret": secret }, "{}")).status).toBe(200);
        expect((await send(receiver, signed)).status).toBe(200);
      });
      await withInstance(target, options, async (receiver) => {
        await receiver.ready();
        await execute(target, "DELETE FROM oncehook_source_secrets");
        expect((await send(receiver, signed)).status).toBe(401);
      });
    }));
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { DIALECTS, type Target, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { event, type ReceiverOptions, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;

/** A handler that fails until it is told to recover, and writes one row when it does not. */
function unreliable(failing: { times: number; error?: Error }) {
  return defineHandler({
    type: "unreliable",
    data: z.object({}),
    async handle({ event, tx }) {
      await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
      if (failing.times > 0) {
        failing.times -= 1;
        throw failing.error ?? new Error("the stock service is down");
      }
      return { done: true };
    },
    migrations: [
      {
        name: "effects",
        async up({ query }) {
          await query.schema.createTable("effects").addColumn("event_id", "text").execute();
        },
      },
    ],
  });
}

function retrying(failing: { times: number; error?: Error }, env: Record<string, string> = {}): ReceiverOptions {
  return { handlers: [unreliable(failing)], retryPollMs: POLL, env: { RETRY_DELAY_SECONDS: "0.1", ...env } };
}

const failure = async (target: Target) => (await rowsOf(target, "SELECT * FROM oncehook_failures"))[0];

describe.each(DIALECTS)("failures and retries on %s", (dialect) => {
  it("the receiver heals a failed event by itself, with one effect, and forgets the failure", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("unreliable", {});
        expect((await receiver.send(sent)).status).toBe(500);
        expect(await receiver.count("effects")).toBe(0);
        await until(async () => (await receiver.count("oncehook_records")) === 1);
        expect(await receiver.count("effects")).toBe(1);
        expect(await receiver.count("oncehook_failures")).toBe(0);
        expect((await receiver.send(sent)).body).toEqual({ status: "already_processed" });
      },
      retrying({ times: 2 }),
    ));

  it("the receiver keeps and counts a failure whatever was thrown", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(event("unreliable", {}));
        await until(async () => (await failure(receiver.target))?.state === "exhausted");
        expect(await failure(receiver.target)).toMatchObject({
          attempts: 4,
          retries_done: 3,
          error: expect.stringMatching(/the stock is gone[\s\S]*caused by: \[Object: null prototype\] \{ a: 1 \}/),
        });
      },
      retrying({
        times: 99,
        error: new Error("the stock is gone", { cause: Object.assign(Object.create(null), { a: 1 }) }),
      }),
    ));

  it("the receiver keeps an event whose schema does not come to an end, and stops in time", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const answer = await receiver.send(event("endless", {}));
        expect([answer.status, answer.body]).toEqual([500, { error: "internal error" }]);
        expect(await failure(receiver.target)).toMatchObject({ code: "handler_timed_out" });
      },
      {
        handlers: [
          defineHandler({
            type: "endless",
            data: z.object({}).refine(() => new Promise<boolean>(() => {})),
            handle: () => ({}),
          }),
        ],
        env: { HANDLER_TIMEOUT_MS: "100" },
      },
    ));

  it("the receiver gives up after RETRY_MAX retries and keeps the failure visible", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(event("unreliable", {}));
        await until(async () => (await failure(receiver.target))?.state === "exhausted");
        expect(await failure(receiver.target)).toMatchObject({
          attempts: 4,
          retries_done: 3,
          next_attempt_at: null,
        });
        const { body } = await receiver.admin("/api/v1/failures?state=exhausted");
        expect(body.items).toMatchObject([{ state: "exhausted", code: "handler_failed", retries_done: 3 }]);
        expect(JSON.stringify(body)).toContain("the stock service is down");
      },
      retrying({ times: 99 }),
    ));

  it("the receiver removes the failure when a redelivery succeeds before the retry", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("unreliable", {});
        await receiver.send(sent);
        expect((await receiver.send(sent)).body).toEqual({ status: "success", data: { done: true } });
        expect(await receiver.count("oncehook_failures")).toBe(0);
        expect(await receiver.count("effects")).toBe(1);
      },
      retrying({ times: 1 }, { RETRY_DELAY_SECONDS: "60" }),
    ));

  it("an event that its handler rejects is kept, and no retry of it is automatic", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect((await receiver.send(event("unreliable", {}))).status).toBe(400);
        expect(await receiver.count("oncehook_failures", "state = 'rejected'")).toBe(1);
      },
      retrying({ times: 99, error: new Rejected("no such order") }),
    ));

  it("a retry that is rejected ends the retries", () =>
    withDatabase(dialect, async (target) => {
      const failing: { times: number; error?: Error } = { times: 99 };
      const receiver = await startReceiver(target, retrying(failing));
      await receiver.send(event("unreliable", {}));
      failing.error = new Rejected("the order was cancelled");
      await until(async () => (await failure(target))?.code === "rejected");
      expect(await failure(target)).toMatchObject({ state: "rejected", error: "the order was cancelled" });
      await receiver.stop();
    }));

  it("the receiver keeps the event encrypted while it waits", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("unreliable", {}, { canary: "canary-in-the-body" });
        await receiver.send(sent);
        const stored = Buffer.from((await failure(receiver.target))?.encrypted_body as Uint8Array);
        expect(stored.length).toBeGreaterThan(50);
        expect(stored.includes("canary")).toBe(false);
      },
      retrying({ times: 1 }, { RETRY_DELAY_SECONDS: "60" }),
    ));

  it("the receiver picks due work up after a restart", () =>
    withDatabase(dialect, async (target) => {
      const first = await startReceiver(target, { ...retrying({ times: 1 }), retryPollMs: 3_600_000 });
      await first.send(event("unreliable", {}));
      await first.stop();
      const second = await startReceiver(target, retrying({ times: 0 }));
      await until(async () => (await second.count("oncehook_records")) === 1);
      expect(await second.count("effects")).toBe(1);
      await second.stop();
    }));

  it("a retry runs in the version that the event came in, and keeps the fingerprint of its body", () => {
    let runs = 0;
    const second = defineHandler({
      type: "of_version_2",
      versions: ["v2"],
      data: z.object({}),
      handle({ version }) {
        runs += 1;
        if (runs === 1) throw new Error("down");
        return { version };
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("of_version_2", {});
        const path = "/api/v2/platform/callback";
        expect((await receiver.send(sent, { path })).status).toBe(500);
        await until(async () => (await receiver.count("oncehook_records")) === 1);
        expect(await receiver.count("oncehook_records", `version = 'v2' AND result = '{"version":"v2"}'`)).toBe(1);
        const mismatches = () => receiver.lines.filter(({ msg }) => String(msg).includes("another body"));
        await receiver.send(sent, { path });
        expect(mismatches()).toEqual([]);
        await receiver.send({ ...sent, timestamp: 1 }, { path });
        expect(mismatches()).toHaveLength(1);
      },
      { handlers: [second], retryPollMs: POLL, env: { RETRY_DELAY_SECONDS: "0.1" } },
    );
  });

  it("the receiver retries nothing where RETRY_MAX is 0", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(event("unreliable", {}));
        expect((await failure(receiver.target))?.state).toBe("exhausted");
      },
      retrying({ times: 99 }, { RETRY_MAX: "0" }),
    ));
});

describe("several processes on one PostgreSQL", () => {
  it("several processes share the due retries: each event has one effect", { tags: "full" }, () =>
    withDatabase("postgres", async (target) => {
      const failing = { times: 20 };
      const receivers: TestReceiver[] = [];
      for (let index = 0; index < 3; index += 1) receivers.push(await startReceiver(target, retrying(failing)));
      await Promise.all(Array.from({ length: 20 }, () => receivers[0]!.send(event("unreliable", {}))));
      await until(async () => (await receivers[0]!.count("oncehook_records")) === 20);
      expect(await receivers[0]!.count("effects")).toBe(20);
      for (const receiver of receivers) await receiver.stop();
    }),
  );
});

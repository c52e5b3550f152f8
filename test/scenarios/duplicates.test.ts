import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { event, payment, startReceiver, withReceiver } from "../support/receiver.ts";

const statuses = (answers: { body: Record<string, unknown> }[]) => answers.map(({ body }) => body.status);

describe.each(DIALECTS)("duplicates on %s", (dialect) => {
  it("the receiver answers one of 64 simultaneous deliveries with success and 63 with already_processed, for one effect", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      const answers = await Promise.all(Array.from({ length: 64 }, () => receiver.send(sent)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(statuses(answers).filter((status) => status === "success")).toHaveLength(1);
      expect(statuses(answers).filter((status) => status === "already_processed")).toHaveLength(63);
      expect(await receiver.count("oncehook_notifications")).toBe(1);
    }));

  it("the receiver answers a processed event already_processed whatever its type or the rest of its body", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      await receiver.send(sent);
      const odd = { event_id: sent.event_id, event_type: "nobody_knows" };
      const answer = await receiver.send(odd);
      expect([answer.status, answer.body]).toEqual([200, { status: "already_processed" }]);
      expect(await receiver.count("oncehook_notifications")).toBe(1);
      const { body } = await receiver.admin("/api/v1/callbacks?outcome=already_processed");
      expect(body.items).toMatchObject([{ event_id: sent.event_id, event_type: "payment_notify" }]);
    }));

  it("the receiver warns and counts when another body comes under a processed id", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      await receiver.send(sent);
      await receiver.send(sent);
      expect(receiver.lines.filter(({ level }) => level === 40)).toHaveLength(0);
      await receiver.send({ ...sent, timestamp: 1 });
      expect(receiver.lines.find(({ level }) => level === 40)?.event_id).toBe(sent.event_id);
      const { body } = await receiver.admin("/metrics");
      expect(body.text).toContain('oncehook_body_mismatch_total{source="platform"} 1');
    }));

  it("a processed event is not revealed to a sender without the secret", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = payment();
      await receiver.send(sent);
      expect((await receiver.send(sent, { secret: "y".repeat(32) })).status).toBe(401);
    }));

  it("the receiver runs a duplicate that waited for a delivery which then failed", () =>
    withDatabase(dialect, async (target) => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      let runs = 0;
      const handler = defineHandler({
        type: "gated",
        data: z.object({}),
        async handle() {
          runs += 1;
          if (runs > 1) return { run: runs };
          begun.resolve();
          await gate.promise;
          throw new Error("the first attempt fails");
        },
      });
      const receiver = await startReceiver(target, { handlers: [handler] });
      const sent = event("gated", {});
      const first = receiver.send(sent);
      await begun.promise;
      const second = receiver.send(sent);
      gate.resolve();
      expect((await first).status).toBe(500);
      expect((await second).body).toEqual({ status: "success", data: { run: 2 } });
      expect(await receiver.count("oncehook_failures")).toBe(0);
      await receiver.stop();
    }));

  it("the receiver answers 503 with Retry-After when the delivery in flight does not end within the request's time", () =>
    withDatabase(dialect, async (target) => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const handler = defineHandler({
        type: "gated",
        data: z.object({}),
        async handle() {
          begun.resolve();
          await gate.promise;
          return {};
        },
      });
      const env = { REQUEST_TIMEOUT_MS: "400", HANDLER_TIMEOUT_MS: "399" };
      const receiver = await startReceiver(target, { handlers: [handler], env });
      // The second process's duplicate waits in the database, the first one's own in memory.
      const other = await startReceiver(target, {
        handlers: [handler],
        env: { ...env, REQUEST_TIMEOUT_MS: "100", HANDLER_TIMEOUT_MS: "90" },
      });
      const sent = event("gated", {});
      const first = receiver.send(sent);
      await begun.promise;
      const late = await other.send(sent);
      expect([late.status, late.body, late.headers.get("retry-after")]).toEqual([
        503,
        { error: "temporarily unavailable" },
        "5",
      ]);
      gate.resolve();
      expect((await first).status).toBe(200);
      expect((await other.send(sent)).body).toEqual({ status: "already_processed" });
      const outcome = dialect === "postgres" ? "event_in_progress" : "store_unavailable";
      const { body } = await other.admin(`/api/v1/callbacks?outcome=${outcome}`);
      expect(body.items).toMatchObject([{ event_id: sent.event_id }]);
      await receiver.stop();
      await other.stop();
    }));
});

describe("two processes on one PostgreSQL", () => {
  it("two processes handle each event once although both get every delivery", () =>
    withDatabase("postgres", async (target) => {
      const receivers = [await startReceiver(target), await startReceiver(target)];
      const sent = Array.from({ length: 20 }, () => payment());
      const answers = await Promise.all(sent.flatMap((one) => receivers.map((receiver) => receiver.send(one))));
      expect(statuses(answers).filter((status) => status === "success")).toHaveLength(20);
      expect(statuses(answers).filter((status) => status === "already_processed")).toHaveLength(20);
      expect(await receivers[0]!.count("oncehook_notifications")).toBe(20);
      for (const receiver of receivers) await receiver.stop();
    }));
});

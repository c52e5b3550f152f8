import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { describeFullOnPostgres, withDatabase, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { withLock } from "../support/held-lock.ts";
import { event, SECRET, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

interface Plan {
  prepared: number;
  prepare?: () => Promise<unknown>;
  failing?: number;
}

/** A handler whose outside step is counted. */
function exchanging(plan: Plan) {
  return defineHandler({
    type: "exchange",
    data: z.object({}),
    async prepare() {
      plan.prepared += 1;
      await plan.prepare?.();
      return { token: `token-${plan.prepared}`, canary: "canary-token" };
    },
    async handle({ prepared }) {
      if ((plan.failing ?? 0) > 0) {
        plan.failing = (plan.failing ?? 0) - 1;
        throw new Error("the transaction fails after the exchange");
      }
      return { grant: prepared.token };
    },
  });
}

/** Stops the receiver, lets the work that is held go on, and returns which of the two came first. */
async function stopBeside(receiver: TestReceiver, held: PromiseWithResolvers<void>): Promise<string> {
  const stopping = receiver.stop().then(() => "the stop ended");
  const first = await Promise.race([stopping, sleep(300, "the work went on")]);
  held.resolve();
  await stopping;
  return first;
}

describeFullOnPostgres("the prepare step on %s", (dialect) => {
  it("the prepare step runs once although its transaction fails twice, and its result serves the retry", () => {
    const plan: Plan = { prepared: 0, failing: 2 };
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        expect((await receiver.send(sent)).status).toBe(500);
        const [row] = await rowsOf(receiver.target, "SELECT encrypted_result FROM oncehook_preparations");
        expect(Buffer.from(row?.encrypted_result as Uint8Array).includes("canary")).toBe(false);
        await until(async () => (await receiver.count("oncehook_records")) === 1);
        expect(plan.prepared).toBe(1);
        expect(await receiver.count("oncehook_preparations")).toBe(0);
        expect(await receiver.count("oncehook_records", `result = '{"grant":"token-1"}'`)).toBe(1);
      },
      { handlers: [exchanging(plan)], retryPollMs: 20, env: { RETRY_DELAY_SECONDS: "0.1" } },
    );
  });

  it("the prepare step runs once for simultaneous deliveries to two processes", () =>
    withDatabase(dialect, async (target) => {
      const plan: Plan = { prepared: 0, prepare: () => sleep(100) };
      const receivers = [
        await startReceiver(target, { handlers: [exchanging(plan)] }),
        await startReceiver(target, { handlers: [exchanging(plan)] }),
      ];
      const sent = event("exchange", {});
      const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => receivers[index % 2]!.send(sent)));
      expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
      expect(answers.filter(({ body }) => body.status === "success")).toHaveLength(1);
      expect(plan.prepared).toBe(1);
      for (const receiver of receivers) await receiver.stop();
    }));

  it("the prepare step of a replay runs to its end before the process stops, and the operator gets the result", () =>
    withDatabase(dialect, async (target) => {
      const plan: Plan = { prepared: 0, prepare: () => Promise.reject(new Error("the platform is down")) };
      const receiver = await startReceiver(target, { handlers: [exchanging(plan)] });
      const sent = event("exchange", {});
      expect((await receiver.send(sent)).status).toBe(500);
      const started = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      plan.prepare = () => {
        started.resolve();
        return released.promise;
      };
      const path = `/api/v1/failures/platform/${sent.event_id}/replay`;
      const replay = receiver.admin(path, { method: "POST" });
      await started.promise;
      const stopped = receiver.stop();
      // Once the admin listener closes, its responses say so.
      await until(async () => {
        const other = await receiver.admin(path, { method: "POST" }).catch(() => undefined);
        if (other !== undefined) expect([other.status, other.body.error]).toEqual([503, "starting or draining"]);
        return other?.headers.get("connection") === "close";
      }, 5_000);
      released.resolve();
      expect((await replay).body).toMatchObject({ outcome: "success", result: { grant: "token-2" } });
      await stopped;
      expect([plan.prepared, await receiver.count("oncehook_failures")]).toEqual([2, 0]);
      expect(await receiver.count("oncehook_audit", "outcome IS NULL")).toBe(0);
    }));

  it("a prepare step leaves nothing behind when it fails, and is done again by the next delivery", () => {
    const plan: Plan = { prepared: 0, prepare: () => Promise.reject(new Error("the platform is down")) };
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        expect((await receiver.send(sent)).status).toBe(500);
        expect(await receiver.count("oncehook_preparations")).toBe(0);
        delete plan.prepare;
        expect((await receiver.send(sent)).body).toEqual({ status: "success", data: { grant: "token-2" } });
      },
      { handlers: [exchanging(plan)] },
    );
  });

  it(
    "a prepare step keeps its result while the database is busy, and the redelivery does not repeat it",
    { tags: "full" },
    () =>
      withDatabase(dialect, async (target) => {
        const plan: Plan = { prepared: 0 };
        const env = { REQUEST_TIMEOUT_MS: "1500", HANDLER_TIMEOUT_MS: "1000" };
        const receiver = await startReceiver(target, { handlers: [exchanging(plan)], env });
        const sent = event("exchange", {});
        const locked = Promise.withResolvers<void>();
        const free = Promise.withResolvers<void>();
        plan.prepare = async () => {
          const lock = "LOCK TABLE oncehook_preparations IN ACCESS EXCLUSIVE MODE";
          void withLock(target, lock, async () => {
            locked.resolve();
            await free.promise;
          });
          await locked.promise;
        };
        const first = receiver.send(sent);
        await locked.promise;
        await sleep(1_700);
        free.resolve();
        await first;
        const again = await receiver.send(sent);
        expect(again.status).toBe(200);
        expect(plan.prepared).toBe(1);
        await receiver.stop();
      }),
  );

  it("a prepare step hands the first attempt the same value as every later one", () => {
    const seen: unknown[] = [];
    const handler = defineHandler({
      type: "exchange",
      data: z.object({}),
      prepare: async () => ({ at: new Date(0), nothing: undefined }) as never,
      async handle({ prepared }) {
        seen.push(prepared);
        if (seen.length === 1) throw new Error("once more");
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        await receiver.send(sent);
        await receiver.send(sent);
        expect(seen).toEqual([{ at: "1970-01-01T00:00:00.000Z" }, { at: "1970-01-01T00:00:00.000Z" }]);
      },
      { handlers: [handler] },
    );
  });

  it("a prepare step may give nothing, which the handler is given as null", () => {
    const handler = defineHandler({
      type: "exchange",
      data: z.object({}),
      prepare: async () => undefined as never,
      handle: ({ prepared }) => ({ prepared }),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const { body } = await receiver.send(event("exchange", {}));
        expect(body).toEqual({ status: "success", data: { prepared: null } });
      },
      { handlers: [handler] },
    );
  });

  it("the prepare step's signal aborts at its time limit, and the step may then return nothing", () => {
    const handler = defineHandler({
      type: "exchange",
      data: z.object({}),
      prepare: ({ signal }) =>
        new Promise<never>((resolve) => {
          signal.addEventListener("abort", () => resolve(undefined as never));
        }),
      handle: ({ prepared }) => ({ prepared }),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        expect((await receiver.send(sent)).status).toBe(500);
        await until(async () => (await receiver.count("oncehook_preparations", "encrypted_result IS NOT NULL")) === 1);
        expect((await receiver.send(sent)).body).toEqual({ status: "success", data: { prepared: null } });
      },
      { handlers: [handler], env: { HANDLER_TIMEOUT_MS: "100" } },
    );
  });

  it("a prepare step ends at the handler's time limit", () => {
    const released = Promise.withResolvers<void>();
    const plan: Plan = { prepared: 0, prepare: () => released.promise };
    return withReceiver(
      dialect,
      async (receiver) => {
        expect((await receiver.send(event("exchange", {}))).status).toBe(500);
        const { body } = await receiver.admin("/api/v1/failures");
        expect(body.items).toMatchObject([{ code: "handler_timed_out" }]);
        released.resolve();
      },
      { handlers: [exchanging(plan)], env: { HANDLER_TIMEOUT_MS: "100" } },
    );
  });

  it("a prepare step that ends after its time limit does not run again, and serves the next delivery", () => {
    const released = Promise.withResolvers<void>();
    const plan: Plan = { prepared: 0, prepare: () => released.promise };
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        expect((await receiver.send(sent)).status).toBe(500);
        expect((await receiver.send(sent)).status).toBe(503);
        released.resolve();
        await until(async () => (await receiver.count("oncehook_preparations", "encrypted_result IS NOT NULL")) === 1);
        expect((await receiver.send(sent)).body).toMatchObject({ status: "success" });
        expect(plan.prepared).toBe(1);
      },
      {
        handlers: [exchanging(plan)],
        env: { HANDLER_TIMEOUT_MS: "100", REQUEST_TIMEOUT_MS: "400" },
      },
    );
  });

  it("a prepare step that fails after its time limit gives up its lease, and the next delivery runs it again", () => {
    const released = Promise.withResolvers<void>();
    const plan: Plan = { prepared: 0, prepare: () => released.promise };
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = event("exchange", {});
        expect((await receiver.send(sent)).status).toBe(500);
        expect(await receiver.count("oncehook_preparations")).toBe(1);
        released.reject(new Error("the platform is down"));
        await until(async () => (await receiver.count("oncehook_preparations")) === 0);
        delete plan.prepare;
        expect((await receiver.send(sent)).body).toEqual({ status: "success", data: { grant: "token-2" } });
      },
      { handlers: [exchanging(plan)], env: { HANDLER_TIMEOUT_MS: "100" } },
    );
  });

  it("a stop waits for a prepare step whose client has gone, and the redelivery does not repeat it", () =>
    withMigrated(dialect, async (target) => {
      const released = Promise.withResolvers<void>();
      const plan: Plan = { prepared: 0, prepare: () => released.promise };
      const receiver = await startReceiver(target, { handlers: [exchanging(plan)] });
      const sent = event("exchange", {});
      const body = JSON.stringify(sent);
      const platform = new AbortController();
      const given = fetch(`${receiver.publicOrigin}/api/platform/callback`, {
        method: "POST",
        headers: { "x-signature": signHmac(SECRET, Buffer.from(body)) },
        body,
        signal: platform.signal,
      });
      await until(() => plan.prepared === 1);
      platform.abort();
      await expect(given).rejects.toThrow("aborted");
      expect(await stopBeside(receiver, released)).toBe("the work went on");
      const next = await startReceiver(target, { handlers: [exchanging(plan)] });
      expect((await next.send(sent)).body).toEqual({ status: "already_processed" });
      expect(plan.prepared).toBe(1);
      await next.stop();
    }));

  it("a stop waits for a prepare step past its time limit, and its result serves the redelivery", () =>
    withMigrated(dialect, async (target) => {
      const released = Promise.withResolvers<void>();
      const plan: Plan = { prepared: 0, prepare: () => released.promise };
      const options = { handlers: [exchanging(plan)], env: { HANDLER_TIMEOUT_MS: "100" } };
      const receiver = await startReceiver(target, options);
      const sent = event("exchange", {});
      expect((await receiver.send(sent)).status).toBe(500);
      expect(await stopBeside(receiver, released)).toBe("the work went on");
      const next = await startReceiver(target, options);
      expect((await next.send(sent)).body).toEqual({ status: "success", data: { grant: "token-1" } });
      expect(plan.prepared).toBe(1);
      await next.stop();
    }));

  it("a stop waits three seconds for a prepare step that never ends", { tags: ["full"] }, () =>
    withMigrated(dialect, async (target) => {
      const plan: Plan = { prepared: 0, prepare: () => new Promise(() => {}) };
      const env = { HANDLER_TIMEOUT_MS: "100" };
      const receiver = await startReceiver(target, { handlers: [exchanging(plan)], env });
      expect((await receiver.send(event("exchange", {}))).status).toBe(500);
      const begun = performance.now();
      await receiver.stop();
      expect(performance.now() - begun).toBeGreaterThan(2_000);
      expect(performance.now() - begun).toBeLessThan(9_000);
    }),
  );

  it("a dry run never runs the prepare step, and uses a stored result or reports that none exists", () => {
    const plan: Plan = { prepared: 0, failing: 1 };
    return withReceiver(
      dialect,
      async (receiver) => {
        const first = event("exchange", {});
        await receiver.send(first);
        const dryRun = (id: string) =>
          receiver.admin(`/api/v1/failures/platform/${id}/replay?dry_run=true`, { method: "POST" });
        expect((await dryRun(first.event_id)).body).toMatchObject({
          outcome: "success",
          result: { grant: "token-1" },
        });
        plan.prepare = () => Promise.reject(new Error("the platform is down"));
        const second = event("exchange", {});
        await receiver.send(second);
        expect((await dryRun(second.event_id)).body).toMatchObject({
          outcome: "rejected",
          error: expect.stringContaining("no outside work"),
        });
        expect(plan.prepared).toBe(2);
      },
      { handlers: [exchanging(plan)] },
    );
  });
});

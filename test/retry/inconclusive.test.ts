import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { createEncryptor } from "../../src/system/encryption.ts";
import { DIALECTS, fullOnPostgres, type Target, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { event, type ReceiverOptions, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;
const OTHER_KEY = Buffer.alloc(32, 9).toString("base64");
const KEY = Buffer.alloc(32, 7).toString("base64");

const handler = (isDown: boolean) =>
  defineHandler({
    type: "stock_counted",
    data: z.object({}),
    handle() {
      if (isDown) throw new Error("the stock service is down");
      return { done: true };
    },
  });

const retrying = (over: ReceiverOptions = {}): ReceiverOptions => ({
  retryPollMs: POLL,
  env: { RETRY_DELAY_SECONDS: "0.1" },
  ...over,
});

async function failure(target: Target): Promise<Record<string, unknown> | undefined> {
  return (await rowsOf(target, "SELECT * FROM oncehook_failures"))[0];
}

/** Keeps one failure of a handler that was down, then stops. */
async function keepOne(target: Target): Promise<void> {
  const receiver = await startReceiver(target, {
    handlers: [handler(true)],
    env: { RETRY_DELAY_SECONDS: "0.1" },
  });
  await receiver.send(event("stock_counted", {}));
  await receiver.stop();
}

/** Waits until the failure was put off, twice, so that a retry was looked at in between. */
async function seePutOff({ target }: TestReceiver): Promise<void> {
  const seen = new Set<string>();
  await until(async () => {
    seen.add(String((await failure(target))?.next_attempt_at));
    return seen.size > 2;
  });
}

const bytesLiteral = (dialect: Target["dialect"], hex: string) =>
  dialect === "sqlite" ? `x'${hex}'` : `'\\x${hex}'::bytea`;

describe.each(DIALECTS)("an event that waits for its retry on %s", (dialect) => {
  it(
    "an event keeps waiting, at no cost, while its type has no handler, and is handled once it has one again",
    { tags: fullOnPostgres(dialect) },
    () =>
      withDatabase(dialect, async (target) => {
        await keepOne(target);
        const without = await startReceiver(target, retrying());
        await seePutOff(without);
        await without.stop();
        expect(await failure(target)).toMatchObject({ state: "waiting", attempts: 1, retries_done: 0 });
        // The start has named the type; the retries say no more of it.
        expect(without.lines.filter(({ msg }) => String(msg).startsWith("retry"))).toEqual([]);
        const again = await startReceiver(target, retrying({ handlers: [handler(false)] }));
        await until(async () => (await again.count("oncehook_records")) === 1);
        expect(await again.count("oncehook_failures")).toBe(0);
        await again.stop();
      }),
  );

  it("an event has no attempt in its timeline while no handler runs", { tags: fullOnPostgres(dialect) }, () =>
    withDatabase(dialect, async (target) => {
      await keepOne(target);
      const without = await startReceiver(target, retrying());
      await seePutOff(without);
      expect(await without.count("oncehook_attempts")).toBe(0);
      await without.stop();
    }),
  );

  it("the start warns of a waiting event only where its type has no handler", { tags: "full" }, () =>
    withDatabase(dialect, async (target) => {
      await keepOne(target);
      const without = await startReceiver(target);
      await without.stop();
      expect(without.lines).toContainEqual(
        expect.objectContaining({
          level: 40,
          types: ["stock_counted (v1): 1"],
          msg: expect.stringContaining("wait for a retry without a handler for their types"),
        }),
      );
      const again = await startReceiver(target, { handlers: [handler(false)] });
      await again.stop();
      expect(JSON.stringify(again.lines)).not.toContain("without a handler");
    }),
  );

  it("an event uses its retries up when its handler misses the key of something else", { tags: "full" }, () =>
    withDatabase(dialect, async (target) => {
      const unreadable = createEncryptor(Buffer.alloc(32, 9)).encrypt(Buffer.of(1), "x");
      const opening = defineHandler({
        type: "stock_counted",
        data: z.object({}),
        handle: () => {
          createEncryptor(Buffer.alloc(32, 7)).decrypt(unreadable, "x");
          return {};
        },
      });
      const receiver = await startReceiver(target, retrying({ handlers: [opening] }));
      await receiver.send(event("stock_counted", {}));
      await until(async () => (await failure(target))?.state === "exhausted");
      await receiver.stop();
      expect((await failure(target))?.attempts).toBeGreaterThan(1);
    }),
  );

  it("an event stays as it is when it is replayed while its type has no handler", () =>
    withDatabase(dialect, async (target) => {
      await keepOne(target);
      const before = await failure(target);
      const without = await startReceiver(target);
      const path = `/api/v1/failures/platform/${String(before?.event_id)}/replay`;
      const { body } = await without.admin(path, { method: "POST" });
      expect(body.outcome).toBe("event_type_unknown");
      await without.stop();
      expect(before).toMatchObject({ state: "waiting", attempts: 1, code: "handler_failed" });
      expect(await failure(target)).toEqual(before);
    }));

  it(
    "an event keeps waiting, at no cost, while the key that encrypted its body is missing",
    { tags: fullOnPostgres(dialect) },
    () =>
      withDatabase(dialect, async (target) => {
        await keepOne(target);
        const encrypted = Buffer.from((await failure(target))?.encrypted_body as Uint8Array).toString("hex");
        const rotated = { RETRY_DELAY_SECONDS: "0.1", ENCRYPTION_KEY: OTHER_KEY };
        const both = await startReceiver(target, { env: { ...rotated, ENCRYPTION_KEY_PREVIOUS: KEY } });
        await both.stop();
        // It may have encrypted the body anew before it stopped.
        await execute(target, `UPDATE oncehook_failures SET encrypted_body = ${bytesLiteral(dialect, encrypted)}`);
        const options = retrying({ handlers: [handler(false)], env: rotated });
        const without = await startReceiver(target, options);
        await seePutOff(without);
        const path = `/api/v1/failures/platform/${String((await failure(target))?.event_id)}/replay?dry_run=true`;
        const { body } = await without.admin(path, { method: "POST" });
        expect(String(body.error)).toContain("sealed with another ENCRYPTION_KEY");
        await without.stop();
        expect(without.lines).toContainEqual(
          expect.objectContaining({
            level: 40,
            code: "internal",
            msg: "retry put off; it cost the event none of its retries",
          }),
        );
        expect(await failure(target)).toMatchObject({ state: "waiting", attempts: 1, retries_done: 0 });
        const again = await startReceiver(target, {
          ...options,
          env: { ...rotated, ENCRYPTION_KEY_PREVIOUS: KEY },
        });
        await until(async () => (await again.count("oncehook_records")) === 1);
        await again.stop();
      }),
  );

  it("an event uses its retries up when its body was damaged, since no key will open it", () =>
    withDatabase(dialect, async (target) => {
      await keepOne(target);
      await execute(target, `UPDATE oncehook_failures SET encrypted_body = ${bytesLiteral(dialect, "00")}`);
      const receiver = await startReceiver(target, retrying({ handlers: [handler(false)] }));
      await until(async () => (await failure(target))?.state === "exhausted");
      await receiver.stop();
      expect(await failure(target)).toMatchObject({ retries_done: 3, code: "internal" });
    }));
});

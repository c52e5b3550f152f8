import { AsyncResource } from "node:async_hooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createServices } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/index.ts";
import { masksOf } from "../../src/configured/index.ts";
import { keyText, type Refused, refused } from "../../src/domain/index.ts";
import { createRegistry } from "../../src/handlers/index.ts";
import { defineHandler } from "../../src/index.ts";
import { createLogger } from "../../src/observability/index.ts";
import { type CallbackResult, preparationContext, processDelivery, runEvent } from "../../src/pipeline/index.ts";
import { createHmacScheme, platformHmac } from "../../src/sources/index.ts";
import type { PendingLookup, Store } from "../../src/store/index.ts";
import { createEncryptor } from "../../src/system/encryption.ts";
import { systemClock } from "../../src/system/index.ts";
import { testEnvironment } from "../../src/testing/start-test-receiver.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { overriding } from "../support/overriding.ts";
import { until } from "../support/until.ts";

const KEY = { source: "platform", eventId: "e1" };
const HANDLER_TIMEOUT_MS = 400;
const LEASE_MARGIN_MS = 10_000;
const STORING_MS = 6_000;

afterEach(() => vi.restoreAllMocks());

function rooms(store: Store, prepared: Promise<void> = Promise.resolve()) {
  const config = loadConfig({ ...testEnvironment(), HANDLER_TIMEOUT_MS: String(HANDLER_TIMEOUT_MS) });
  const counted = { prepared: 0 };
  const handler = defineHandler({
    type: "exchange",
    data: z.object({}),
    async prepare() {
      counted.prepared += 1;
      await prepared;
      return { token: "from prepare" };
    },
    async handle({ prepared }) {
      return { token: prepared.token };
    },
  });
  const masks = masksOf(config, { configured: [] });
  const { receiver } = createServices({
    config,
    configured: [],
    ...masks,
    store,
    registry: createRegistry([], [handler]),
    encryptor: createEncryptor(Buffer.alloc(32, 7)),
    scheme: createHmacScheme(platformHmac(null), { secrets: ["unused"], clock: systemClock }),
    noteCredential: () => undefined,
    tokens: { for: () => Promise.reject(new Error("no user has authorized us")) },
    clock: systemClock,
    logger: createLogger({ level: "silent", mask: masks.mask }),
    tracer: undefined,
  });
  const json = { event_id: "e1", event_type: "exchange", timestamp: 1, data: {} };
  const input = (deadline: number) => ({
    key: KEY,
    content: { json, body: Buffer.from(JSON.stringify(json)), bodySha256: "a".repeat(64) },
    version: "v1" as const,
    deadline,
  });
  const run = (deadline = performance.now() + 5_000) =>
    runEvent({ ...input(deadline), eventType: "exchange", kind: "inline", mode: "commit" }, receiver);
  const deliver = async (typeOf: () => string | Refused) => {
    const context = new AsyncResource("test");
    const attempt = input(performance.now() + 5_000);
    const content = { ...attempt.content, eventId: KEY.eventId, typeOf };
    const contract = { unhandled: "refuse" } as const;
    const delivery = {
      ...attempt,
      content,
      contract,
      answer: "inline" as const,
      context,
      buildLogEntry: () => logRow(),
    };
    const { outcome } = await new Promise<CallbackResult>((settle) =>
      processDelivery({ ...delivery, settle }, receiver),
    );
    return outcome;
  };
  return { counted, receiver, run, deliver };
}

describe.each(DIALECTS)("the prepare step on %s", (dialect) => {
  it("the prepare step does not run again where this process keeps a result that could not be saved", () =>
    withStore(dialect, async (store) => {
      const { counted, receiver, run } = rooms(store);
      receiver.unsavedPreparations.set(keyText(KEY), '{"token":"kept"}');
      expect(await run()).toMatchObject({ kind: "success", result: { token: "kept" } });
      expect(counted.prepared).toBe(0);
      expect(receiver.unsavedPreparations.size).toBe(0);
    }));

  it("the prepare step drops the unsaved result of an event that another process has completed", () =>
    withStore(dialect, async (store) => {
      const { receiver, deliver } = rooms(store);
      receiver.unsavedPreparations.set(keyText(KEY), '{"token":"kept"}');
      await rooms(store).run();
      expect(await deliver(() => "exchange")).toMatchObject({ kind: "already_processed" });
      expect(receiver.unsavedPreparations.size).toBe(0);
    }));

  it("the prepare step drops its unsaved result for the one that another process has stored", () =>
    withStore(dialect, async (store) => {
      const { counted, receiver, run } = rooms(store);
      receiver.unsavedPreparations.set(keyText(KEY), '{"token":"kept"}');
      const now = new Date();
      await store.preparations.claim(KEY, { owner: "b", now, until: new Date(now.getTime() + 5_000) });
      const theirs = receiver.encryptor.encrypt(Buffer.from('{"token":"theirs"}'), preparationContext(KEY));
      await store.preparations.save(KEY, "b", theirs);
      expect(await run()).toMatchObject({ kind: "success", result: { token: "theirs" } });
      expect([counted.prepared, receiver.unsavedPreparations.size]).toEqual([0, 0]);
    }));

  it("a claim returns a duplicate where another process completes the event after the look-up", () =>
    withStore(dialect, async (store) => {
      const { counted, run } = rooms(store);
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await run()).toMatchObject({ kind: "already_processed", isSameBody: true });
      expect(counted.prepared).toBe(0);
    }));

  it("the prepare step takes no result that was stored for another event", () =>
    withStore(dialect, async (store) => {
      const { receiver, run } = rooms(store);
      const now = new Date();
      await store.preparations.claim(KEY, { owner: "b", now, until: new Date(now.getTime() + 5_000) });
      const context = preparationContext({ ...KEY, eventId: "e2" });
      await store.preparations.save(KEY, "b", receiver.encryptor.encrypt(Buffer.from('{"token":"e2"}'), context));
      expect(await run()).toMatchObject({ kind: "failed", code: "handler_failed" });
    }));

  /** Runs the event on a store whose claim takes so long, by the clock that leases are measured with. */
  const runAfterClaim = async (store: Store, claimMs: number, prepared?: Promise<void>) => {
    let shift = 0;
    const now = performance.now.bind(performance);
    const claim: Store["preparations"]["claim"] = async (...given) => {
      const claimed = await store.preparations.claim(...given);
      shift = claimMs;
      return claimed;
    };
    const { counted, run } = rooms({ ...store, preparations: overriding(store.preparations, { claim }) }, prepared);
    vi.spyOn(performance, "now").mockImplementation(() => now() + shift);
    return { counted, outcome: await run(now() + 60_000) };
  };
  const LEASE_MS = HANDLER_TIMEOUT_MS + LEASE_MARGIN_MS;

  it("the prepare step does not start when a slow claim has almost used up its lease", () =>
    withStore(dialect, async (store) => {
      const { counted, outcome } = await runAfterClaim(store, LEASE_MS - 1_000);
      expect(outcome).toMatchObject({ kind: "failed", code: "handler_failed" });
      expect(counted.prepared).toBe(0);
      // The claim was given back.
      expect((await store.preparations.claim(KEY, { owner: "b", now: new Date(), until: new Date() })).state).toBe(
        "claimed",
      );
    }));

  it("the prepare step ends before its lease does when the claim took long, with time left to store its result", () =>
    withStore(dialect, async (store) => {
      const gate = Promise.withResolvers<void>();
      const { counted, outcome } = await runAfterClaim(store, LEASE_MS - STORING_MS - 200, gate.promise);
      gate.resolve();
      expect(outcome).toMatchObject({ kind: "failed", code: "handler_timed_out" });
      const [, limit] = /time limit of (\d+) ms/.exec(String("cause" in outcome && outcome.cause)) ?? [];
      expect(Number(limit)).toBeGreaterThan(0);
      expect(Number(limit)).toBeLessThanOrEqual(200);
      expect(counted.prepared).toBe(1);
    }));

  it("the prepare step has the handler's whole time limit when the claim was within the lease's margin", () =>
    withStore(dialect, async (store) => {
      const { counted, outcome } = await runAfterClaim(store, LEASE_MARGIN_MS - STORING_MS);
      expect(outcome).toMatchObject({ kind: "success" });
      expect(counted.prepared).toBe(1);
    }));
});

describe.each(DIALECTS)("a delivery that waits for another of its event on %s", (dialect) => {
  it("a delivery that waits for another of its event looks its event up again, and is a duplicate whatever its type", () =>
    withStore(dialect, async (store) => {
      let lookedUp = 0;
      const lookUp: Store["lookUp"] = (lookup) => {
        const resolve: PendingLookup["resolve"] = (record) => {
          lookup.resolve(record);
          lookedUp += 1;
        };
        const { key, deadline } = lookup;
        store.lookUp({ key, deadline, resolve, reject: (error) => lookup.reject(error) });
      };
      const gate = Promise.withResolvers<void>();
      const { counted, deliver } = rooms({ ...store, lookUp }, gate.promise);
      const first = deliver(() => "exchange");
      await until(() => counted.prepared === 1);
      lookedUp = 0;
      const second = deliver(() => refused("event_type_unknown"));
      await until(() => lookedUp === 1);
      gate.resolve();
      expect([await first, await second]).toMatchObject([{ kind: "success" }, { kind: "already_processed" }]);
    }));
});

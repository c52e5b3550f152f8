import { describe, expect, it } from "vitest";
import { type CallbackFilter, fixedRetries } from "../../src/domain/index.ts";
import { type EncryptedKind, isKeyWaiting, type Store, sealOriginal } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord, within } from "../support/effects.ts";
import { newFailure, retriesOf } from "../support/failure.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { historyIn, originalsKeeper } from "../support/originals.ts";
import { fullScans, seedRows, sorts, without } from "../support/query-plans.ts";
import { recoveryAt } from "../support/recovery.ts";
import { hotStatements, statementsOf } from "../support/statements.ts";

const NOON = new Date("2026-03-04T12:00:00.250Z");
const LATER = new Date(NOON.getTime() + 60_000);
const KEY = { source: "platform", eventId: "e1" };
const LEASE = { owner: "a", now: NOON, until: LATER };
/** What it may have taken is released where the leasing statement fails. */
const BROKEN = { ...LEASE, owner: "b" };
const SEALED: Record<EncryptedKind, string[]> = {
  failure: ["e1", "platform"],
  preparation: ["e1", "platform"],
  user_tokens: ["u1"],
  source_secret: ["asana", "ab"],
  original: ["1"],
};
const PAGE = { limit: 10, before: 1_000 };
const HOUR = { from: NOON.toISOString(), to: LATER.toISOString() };

/** A handful of rows long, and read once at a start or in a minute: no index could help. */
const BOOKS =
  /oncehook_(?:schema|own_migrations|settings|alerts|alert_turns|arrival_days|late_callbacks|source_secrets|problem_states)/;
/** One of each kind alone, and all of them together. */
const EACH: CallbackFilter = {
  from: NOON.toISOString(),
  to: LATER.toISOString(),
  source: "platform",
  eventType: "t",
  eventId: "e1",
  remoteAddress: "127.0.0.1",
  outcomes: ["handler_failed", "signature_mismatch"],
  statuses: [400, 499],
  text: "a",
};
const FILTERS: readonly CallbackFilter[] = [
  {},
  EACH,
  { ...EACH, outcomes: ["success"] },
  ...Object.entries(EACH).map(([name, value]) => ({ [name]: value })),
  { outcomes: ["success", "handler_failed"] },
  { statuses: [200, 299] },
];

/** Below this some operation was not seen, and the test would say too little. */
const FEWEST_STATEMENTS = 25;
const FEWEST_SEARCHING = 10;

describe.each(DIALECTS)("the statements of the store on %s", (dialect) => {
  it("the store never reads a whole table, whichever operation it runs", { tags: "full" }, async () => {
    await withStore(dialect, async (store, target) => {
      const seen = await statementsOf(() => everyOperation(store));
      const hot = dialect === "sqlite" ? [] : hotStatements();
      await seedRows(target);
      const statements = [...new Set([...seen, ...hot])].filter(
        (text) => /^\s*(?:select|insert|update|delete|with)\b/i.test(text) && /oncehook_/.test(text),
      );
      const judged = statements.filter((text) => !BOOKS.test(text));
      expect(judged.length).toBeGreaterThanOrEqual(FEWEST_STATEMENTS);
      expect(await fullScans(target, judged)).toEqual([]);
    });
  });

  it("the store never reads or sorts the whole callback log, whatever the search", { tags: "full" }, async () => {
    await withStore(dialect, async (store, target) => {
      // What is found decides what is asked next.
      await store.appendCallbacks([logRow({ eventId: "e1", outcome: "handler_failed" })]);
      const seen = await statementsOf(() => callbacks(store));
      await seedRows(target);
      const judged = seen.filter((text) => /oncehook_callbacks/.test(text));
      expect(judged.length).toBeGreaterThanOrEqual(FEWEST_SEARCHING);
      expect(await fullScans(target, judged)).toEqual([]);
      expect(await sorts(target, judged)).toEqual([]);
      // By ids alone each of these would go through all of the log, a step at a time.
      const ofEvent = judged.filter((text) => /SELECT id\s.* with_record = 0 /s.test(text));
      const ofOutcome = judged.filter((text) => /SELECT id\s.* outcome = /s.test(text));
      expect([ofEvent.length, ofOutcome.length]).toEqual([1, 1]);
      expect(await without("oncehook_callbacks_event", target, ofEvent)).toEqual([]);
      expect(await without("oncehook_callbacks_rare", target, ofOutcome)).toEqual([]);
    });
  });

  it("a lease of due deliveries does not read those of other channels", { tags: "full" }, async () => {
    await withStore(dialect, async (store, target) => {
      const seen = await statementsOf(() => store.notificationDeliveries.leaseDue(["email:a", "email:b"], LEASE, 10));
      await seedRows(target);
      const judged = seen.filter((text) => /UPDATE oncehook_deliveries/.test(text));
      expect(judged).toHaveLength(1);
      expect(await without("oncehook_deliveries_due", target, judged, "channel")).toEqual([]);
    });
  });
});

async function everyOperation(store: Store): Promise<void> {
  await failures(store);
  await outbox(store);
  await problems(store);
  await preparations(store);
  await runOnce(
    store,
    newRecord("e1"),
    async (scope) => {
      await scope.enqueue({ topic: "t", payload: {} });
      return { result: {}, logEntry: logRow() };
    },
    committing(),
  );
  await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
  await store.find(KEY, within(5_000));
  await store.redirectStates.register("c".repeat(64), LATER, NOON);
  await store.redirectStates.isRegistered("c".repeat(64), NOON, within(10_000));
  await store.redirectStates.isSpent("c".repeat(64), within(10_000));
  await store.redirectStates.spend("d".repeat(64), LATER, NOON);
  await store.redirectStates.consume("c".repeat(64));
  await store.userTokens.get("u1");
  await store.userTokens.leaseOne("u1", LEASE);
  await store.userTokens.leaseDue(LEASE, 8);
  await store.userTokens.repairTimes(1, new Date(0));
  await store.userTokens.repairTimes(1, NOON);
  await store.userTokens.save("u1", "a", { encrypted: Buffer.of(1), expiresAt: null, refreshAt: null }, NOON);
  await store.userTokens.release("u1", "a");
  await store.userTokens.release("u1", "a", { refreshAt: LATER, error: null });
  await store.userTokens.remove("u1", "a");
  for (const [kind, key] of Object.entries(SEALED) as [EncryptedKind, string[]][]) {
    await store.encryptedValues.page(kind, undefined, 10);
    await store.encryptedValues.page(kind, key, 10);
    await store.encryptedValues.replace(kind, { key, encrypted: Buffer.of(1) }, Buffer.of(2));
  }
  await store.credentialUses.note({ method: "hmac", fingerprint: "a" }, NOON);
  await store.credentialUses.noteConfigured([{ method: "hmac", fingerprint: "a", isPrevious: true }], NOON);
  await store.credentialUses.list([{ method: "hmac", fingerprint: "a" }]);
  await store.credentialUses.list(["a", "b", "c"].map((fingerprint) => ({ method: "token", fingerprint })));
  await store.tenantSecretUses.note([{ source: "shops", tenant: "a", isPrevious: false }], NOON);
  await store.tenantSecretUses.list({ source: "shops" }, PAGE);
  await store.tenantSecretUses.list({ source: "shops", tenant: "a" }, PAGE);
  const claim = { source: "shops", fingerprint: "a", tenant: "a" };
  await store.tenantSecrets.claim(claim, NOON);
  await store.tenantSecrets.claim({ ...claim, tenant: "b", lostBy: "a" }, NOON);
  await store.appendCallbacks([logRow()]);
  for (const page of [{ limit: 10 }, PAGE]) {
    for (const source of [{}, { source: "platform" }])
      for (const filter of [source, { ...source, eventId: "e1" }]) await store.records.list(page, filter);
  }
  await ofEvent(store);
  await bulkReplays(store);
  await originals(store);
  await callbacks(store);
  await store.sourceActivity.slowest({ source: "platform", ...HOUR }, { limit: 5, budgetMs: 0 });
  await store.sourceActivity.ignoredTypes("platform", 10);
  await store.sourceActivity.reconciled("platform", 10);
  await store.rollups.ofSource("day", 0, "platform");
  await alerts(store);
  await access(store);
  await store.settings.noteLongestRun(30_000);
  await store.settings.noteBaseUrl("http://127.0.0.1:8080");
  await store.rateCounters.hit("k", 60_000, NOON);
  const heard = { receivedAt: NOON, encrypted: Buffer.of(1) };
  await store.captures.append([1, 2, 3].map((number) => ({ ...heard, requestId: `r${number}` })));
  await store.captures.after(0, { rows: 10, bytes: 1_000 });
  await store.captures.extent();
  await store.captures.idBefore(NOON);
  await store.captures.sweep({ rows: 1, bytes: 1_000, since: NOON });
  await store.captures.clear();
  await store.retention.sweep({
    callbacks: NOON,
    records: NOON,
    refusedRowsKept: 1,
    refusedBytes: 100,
    now: NOON,
  });
}

async function ofEvent(store: Store): Promise<void> {
  const attempt = {
    ...KEY,
    startedAt: NOON,
    trigger: "retry",
    outcome: "success",
    error: null,
    durationMs: 1,
  } as const;
  await store.attempts.append(attempt);
  await store.attempts.list(KEY, { after: 0, limit: 10 });
  await store.callbacks.ofEvent(KEY, { after: 0, limit: 10 });
  const at = NOON.toISOString();
  await store.notifications.ofEvent({ ...KEY, createdAt: at, processedAt: at }, 10);
}

async function originals(store: Store): Promise<void> {
  const { keep, encryptor } = originalsKeeper();
  await runOnce(
    store,
    newRecord("kept"),
    async () => ({ result: {}, logEntry: logRow(), original: keep("kept") }),
    committing(),
  );
  await store.originals.find({ ...KEY, eventId: "kept" }, encryptor);
  const failure = { ...KEY, eventId: "kept" };
  await store.failures.record(
    newFailure(failure, null, { original: sealOriginal(newRecord("kept"), keep("kept")) }),
    NOON,
  );
  await historyIn(store, encryptor, { since: NOON });
  await store.groupBlocks.setMark(NOON);
  await store.groupBlocks.ids();
  const blocks = await store.groupBlocks.oldest(10, LATER);
  await store.groupBlocks.merge(blocks, Buffer.of(1));
}

async function bulkReplays({ bulkReplays }: Store): Promise<void> {
  const filter = { source: "platform", eventType: "t", code: "handler_failed" };
  const bulk = await bulkReplays.create({ filter, perSecond: 1, createdBy: "token" }, NOON);
  await bulkReplays.lease(LEASE);
  await bulkReplays.next(bulk, 10);
  const progress = { afterId: 1, succeeded: 0, alreadyHandled: 0 };
  await bulkReplays.advance(bulk.id, "a", progress, LATER);
  await bulkReplays.change(bulk.id, "paused", NOON);
  await bulkReplays.finish(bulk.id, "a", NOON);
  await bulkReplays.release(bulk.id, "a");
  await bulkReplays.get(bulk.id);
  for (const page of [{ limit: 10 }, PAGE]) await bulkReplays.list(page);
}

async function callbacks({ callbacks, rollups }: Store): Promise<void> {
  for (const filter of FILTERS) await callbacks.search(filter, { limit: 10, budgetMs: 0 });
  await callbacks.noteLate(NOON, LATER);
  await callbacks.search({}, { limit: 10, budgetMs: 0, before: 1_000 });
  await callbacks.get(1);
  await callbacks.after(0, 10);
  await callbacks.byIds([1, 2]);
  await callbacks.newestIds(10);
  await rollups.add(NOON, [{ source: "platform", outcome: "success", bucket: 1, count: 1 }]);
  await rollups.list("hour", 0);
}

async function alerts({ alerts, notifications }: Store): Promise<void> {
  const key = { source: "platform", subject: "t" };
  await alerts.claimEvaluation("silence", NOON, 60_000);
  await alerts.addArrivals(NOON, [{ source: "platform", eventType: "t", count: 1 }]);
  await alerts.listArrivals();
  await alerts.deleteArrivalsBefore(8);
  await alerts.firstOutcomeSlot();
  await alerts.outcomes(0, 900);
  await alerts.oldestAccepted(10);
  await alerts.exhausted(10, new Date());
  const change = {
    kind: "silence",
    ...key,
    isOpen: true,
    since: NOON,
    notifiedCount: 0,
    notifiedAt: NOON,
  } as const;
  for (const from of [0, 1]) await alerts.change({ ...change, from, message: { topic: "t", payload: {} } });
  await notifications.byIds([1, 2]);
  await alerts.mute(change, { until: LATER, by: "a", reason: "r" });
  await alerts.unmute(change, NOON);
}

async function problems({ problems, problemStates, problemEvents, outbox, failures }: Store): Promise<void> {
  await failures.record(newFailure({ source: "platform", eventId: "problem" }, null), NOON);
  const [found] = (await problems.list(NOON)).problems;
  if (found === undefined) throw new Error("expected a problem");
  for (const kind of ["failure", "delivery", "refusal"] as const)
    await problemEvents.search({ ...found, kind }, { limit: 10, budgetMs: 0 });
  await outbox.redeliverProblem(found.id, NOON);
  await problemStates.mute(found.id, { until: LATER, by: "a", reason: "b" });
  for (const filter of [{ problem: found.id }, { bulkReplay: 1 }]) await failures.list({ limit: 10 }, filter);
  await problems.get(found.id, NOON);
  await failures.remove({ source: "platform", eventId: "problem" });
  await problems.list(NOON);
}

async function access({ sessions, audit }: Store): Promise<void> {
  const session = {
    actor: "a",
    role: "viewer",
    credentialFingerprint: "f",
    startedAt: NOON,
    expiresAt: LATER,
  } as const;
  await sessions.create("a".repeat(64), session);
  await sessions.find("a".repeat(64), NOON);
  await sessions.end("a".repeat(64));
  const entry = {
    at: NOON,
    actor: "a",
    role: null,
    remoteAddress: "b",
    target: null,
    detail: null,
    outcome: null,
  };
  const id = await audit.begin({ ...entry, action: "a" });
  await audit.end(id, "done");
  for (const page of [{ limit: 10 }, PAGE])
    for (const filter of [{}, { action: "a" }, { actor: "a" }, { action: "a", actor: "a" }])
      await audit.search(filter, { ...page, budgetMs: 0 });
}

async function outbox(store: Store): Promise<void> {
  await runOnce(
    store,
    newRecord("notified"),
    async (scope) => {
      await scope.enqueue({ topic: "t", payload: {} });
      return { result: {} };
    },
    committing(),
  );
  await store.outbox.fanOut(["webhook"], NOON, 10);
  for (const next of [LATER, null]) {
    const [due] = await store.notificationDeliveries.leaseDue(
      ["webhook"],
      { owner: "a", now: LATER, until: LATER },
      10,
    );
    await store.notificationDeliveries.markFailed(due?.id ?? 0, "a", "down", next);
  }
  const [listed] = await store.notifications.list({ limit: 1 }, {});
  await store.outbox.redeliverDead(listed?.id ?? 0, ["webhook"], NOON);
  const [due] = await store.notificationDeliveries.leaseDue(["webhook"], { owner: "a", now: LATER, until: LATER }, 10);
  await store.notificationDeliveries.release(due?.id ?? 0, "a");
  await store.notificationDeliveries.leaseDue(["webhook"], { owner: "a", now: NOON, until: NOON }, 10);
  await store.notificationDeliveries.leaseExpired(["webhook"], LEASE);
  await expect(store.notificationDeliveries.leaseDue(["webhook"], BROKEN, Number.NaN)).rejects.toThrow();
  await store.notificationDeliveries.repairTimes(["webhook"], 1, new Date(0));
  await store.leases.expireAll(NOON);
  await store.outbox.deliverDirectly("log", NOON, 10, () => {});
  await store.notificationDeliveries.markDelivered([due?.id ?? 0], "a", NOON);
  await store.notificationDeliveries.markDead(due?.id ?? 0, "a", "no");
  for (const page of [{ limit: 10 }, PAGE])
    for (const filter of [{}, { state: "dead" }, { state: "waiting" }, { state: "delivered" }] as const)
      await store.notifications.list(page, filter);
  await store.outbox.counts();
  await store.outbox.waitingByChannel();
  for (const channel of [undefined, "webhook"]) await store.outbox.discard(0, channel, NOON);
}

async function failures({ database, failures, failureLeases }: Store): Promise<void> {
  const failure = { ...KEY, eventType: "t", version: "v1", code: "handler_failed", error: "no" } as const;
  await failures.record(
    { ...failure, encryptedBody: new Uint8Array([1]), bodySha256: "ab", nextAttemptAt: NOON },
    NOON,
  );
  for (const state of ["waiting", "accepted"] as const) {
    await failureLeases.dueSources(state, "", LATER, 10);
    await isKeyWaiting(database, { source: "platform", orderKey: "order o1" });
    await failureLeases.leaseDue(LEASE, { ...retriesOf(10), state });
  }
  await expect(failureLeases.leaseDue(BROKEN, retriesOf(Number.NaN))).rejects.toThrow();
  const again = { code: "handler_failed", error: "no", now: NOON, nextAttemptAt: null } as const;
  await failureLeases.reschedule(KEY, "a", { ...again, kind: "retry" });
  await failureLeases.leaseOne(KEY, LEASE);
  await failureLeases.reschedule(KEY, "a", { ...again, kind: "replay", bulkReplayId: 1 });
  await failureLeases.release(KEY, "a");
  await failureLeases.leaseOne(KEY, { ...LEASE, kind: "bulk", isAlone: true, bulkReplayId: 1 });
  const policy = fixedRetries(3, 1);
  await failureLeases.recover(recoveryAt(new Date(LATER.getTime() + 1), 1, policy));
  await failureLeases.recover(recoveryAt(new Date(0), 1, policy));
  await failureLeases.isSuspectDue(LATER);
  await failureLeases.leaseSuspect(LEASE);
  await failures.get(KEY);
  for (const page of [{ limit: 10 }, PAGE]) {
    await failures.list(page, {});
    await failures.list(page, { state: "waiting" });
  }
  for (const page of [{ limit: 10 }, PAGE])
    await failures.list(page, { source: "platform", eventType: "t", code: "handler_failed" });
  await failures.counts();
  await failures.nextAttemptAt();
  await failures.waitingTypes();
  await failures.remove(KEY);
}

async function preparations({ preparations }: Store): Promise<void> {
  await preparations.claim(KEY, LEASE);
  await preparations.release(KEY, "a");
  await preparations.claim(KEY, LEASE);
  await preparations.claim(KEY, { ...LEASE, now: new Date(0), until: new Date(1) });
  await preparations.save(KEY, "a", new Uint8Array([1]));
  await preparations.get(KEY);
}

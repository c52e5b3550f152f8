import { alertQueries } from "./alerts.ts";
import { attemptQueries } from "./attempts.ts";
import { auditQueries } from "./audit.ts";
import { bulkReplayQueries } from "./bulk-replays.ts";
import { callbackQueries, callbacksOfEvent } from "./callback-log.ts";
import { noteLongestRun } from "./callback-times.ts";
import { captureQueries } from "./captures.ts";
import { credentialUses, noteConfiguredCredentials, noteCredential } from "./credential-uses.ts";
import type { Database } from "./database.ts";
import { deliveryLeases, markDead, markDelivered, markFailed, releaseDelivery } from "./deliveries.ts";
import { sealedValueQueries } from "./encrypted-values.ts";
import { leaseQueries, releaseFailure, rescheduleFailure } from "./failure-leases.ts";
import { recoverFailures } from "./failure-recovery.ts";
import { searchFailures } from "./failure-search.ts";
import type { FailureStore } from "./failures.ts";
import {
  countFailures,
  countWaitingByType,
  getFailure,
  nextRetryAt,
  recordFailure,
  removeFailure,
  removeIfRecorded,
} from "./failures.ts";
import { expireLeases } from "./lease.ts";
import { writeSetting } from "./migrations/check-stamp.ts";
import type { OutboxStore } from "./outbox.ts";
import { deliverDirectly, discardDeliveries, fanOut, redeliverDead } from "./outbox.ts";
import {
  countUndelivered,
  countWaitingByChannel,
  notificationsOfEvent,
  searchNotifications,
} from "./outbox-search.ts";
import { preparationQueries } from "./preparations.ts";
import { hitRate } from "./rate-counters.ts";
import { listRecords } from "./records.ts";
import { redirectStateQueries } from "./redirect-states.ts";
import { sweep } from "./retention.ts";
import { rollupQueries } from "./rollups.ts";
import { sessionQueries } from "./sessions.ts";
import type { Store } from "./store.ts";
import { userTokenQueries } from "./user-tokens.ts";

/** The operations that both databases carry out with the same SQL. */
export function createAreas(
  database: Database,
): Omit<
  Store,
  "dialect" | "find" | "lookUp" | "once" | "submit" | "appendCallbacks" | "broken" | "ping" | "close"
> {
  return {
    failures: failureQueries(database),
    attempts: attemptQueries(database),
    bulkReplays: bulkReplayQueries(database),
    preparations: preparationQueries(database),
    redirectStates: redirectStateQueries(database),
    outbox: outboxQueries(database),
    userTokens: userTokenQueries(database),
    sealedValues: sealedValueQueries(database),
    alerts: alertQueries(database),
    callbacks: callbackQueries(database),
    rollups: rollupQueries(database),
    captures: captureQueries(database),
    sessions: sessionQueries(database),
    audit: auditQueries(database),
    callbacksOf: (key, stretch) => callbacksOfEvent(database, key, stretch),
    listRecords: (page, filter) => listRecords(database, page, filter),
    hitRate: (key, windowMs, now) => hitRate(database, key, windowMs, now),
    noteCredential: (use, now) => noteCredential(database, use, now),
    noteConfiguredCredentials: (credentials, now) => noteConfiguredCredentials(database, credentials, now),
    credentialUses: (credentials) => credentialUses(database, credentials),
    noteBaseUrl: (url) => writeSetting(database.write, "base_url", url),
    noteLongestRun: (ms) => noteLongestRun(database, ms),
    expireLeases: (now) => expireLeases(database, now),
    sweep: (olderThan) => sweep(database, olderThan),
  };
}

/** The failures of `FailureStore`, in SQL that both databases speak. */
export function failureQueries(database: Database): FailureStore {
  return {
    async record(failure, now) {
      await recordFailure(database, failure, now);
      await removeIfRecorded(database, failure);
    },
    ...leaseQueries(database),
    recover: (recovery) => recoverFailures(database, recovery),
    async reschedule(key, owner, again) {
      await rescheduleFailure(database, key, owner, again);
      await removeIfRecorded(database, key);
    },
    release: (...given) => releaseFailure(database, ...given),
    remove: (key) => removeFailure(database, key),
    get: (key) => getFailure(database, key),
    search: (filter, search) => searchFailures(database, filter, search),
    list: async (page, filter) =>
      (await searchFailures(database, filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows,
    counts: () => countFailures(database),
    nextAttemptAt: () => nextRetryAt(database),
    waitingTypes: () => countWaitingByType(database),
  };
}

/** The outbox of `OutboxStore`, in SQL that both databases speak. */
export function outboxQueries(database: Database): OutboxStore {
  return {
    fanOut: (channels, now, limit) => fanOut(database, channels, now, limit),
    deliverDirectly: (channel, now, limit, take) => deliverDirectly(database, channel, now, limit, take),
    ...deliveryLeases(database),
    markDelivered: (ids, owner, now) => markDelivered(database, ids, owner, now),
    markFailed: (...given) => markFailed(database, ...given),
    release: (id, owner) => releaseDelivery(database, id, owner),
    markDead: (id, owner, error) => markDead(database, id, owner, error),
    redeliverDead: (id, channels, now) => redeliverDead(database, id, channels, now),
    discard: (id, channel, now) => discardDeliveries(database, id, channel, now),
    search: (filter, request) => searchNotifications(database, filter, request),
    list: async (page, filter) =>
      (await searchNotifications(database, filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows,
    ofEvent: (event, limit) => notificationsOfEvent(database, event, limit),
    counts: () => countUndelivered(database),
    waitingByChannel: () => countWaitingByChannel(database),
  };
}

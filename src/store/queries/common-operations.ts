import { writeSetting } from "../migrations/check-stamp.ts";
import type { Store } from "../store.ts";
import type { Access } from "./access.ts";
import { alertQueries } from "./alerts.ts";
import { attemptQueries } from "./attempts.ts";
import { auditQueries } from "./audit.ts";
import { bulkReplayQueries } from "./bulk-replays.ts";
import { callbackQueries } from "./callbacks.ts";
import { credentialUses, noteConfigured, noteCredential } from "./credential-uses.ts";
import { expireLeases } from "./expire-leases.ts";
import { failureQueries } from "./failures.ts";
import { heardQueries } from "./heard.ts";
import { listRecords } from "./lists.ts";
import { noteLongestRun } from "./longest-run.ts";
import { callbacksOfEvent } from "./of-event.ts";
import { outboxQueries } from "./outbox.ts";
import { preparationQueries } from "./preparations.ts";
import { hitRate } from "./rates.ts";
import { redirectStateQueries } from "./redirect-states.ts";
import { rollupQueries } from "./rollups.ts";
import { sealedValueQueries } from "./sealed-values.ts";
import { sessionQueries } from "./sessions.ts";
import { sweep } from "./sweep.ts";
import { userTokenQueries } from "./user-tokens.ts";

/** The operations that both databases carry out with the same SQL. */
export function commonOperations(
  access: Access,
): Omit<Store, "dialect" | "find" | "once" | "appendCallbacks" | "broken" | "ping" | "close"> {
  return {
    failures: failureQueries(access),
    attempts: attemptQueries(access),
    bulkReplays: bulkReplayQueries(access),
    preparations: preparationQueries(access),
    redirectStates: redirectStateQueries(access),
    outbox: outboxQueries(access),
    userTokens: userTokenQueries(access),
    sealedValues: sealedValueQueries(access),
    alerts: alertQueries(access),
    callbacks: callbackQueries(access),
    rollups: rollupQueries(access),
    heard: heardQueries(access),
    sessions: sessionQueries(access),
    audit: auditQueries(access),
    callbacksOf: (key, stretch) => callbacksOfEvent(access, key, stretch),
    listRecords: (page, filter) => listRecords(access, page, filter),
    hitRate: (key, windowMs, now) => hitRate(access, key, windowMs, now),
    noteCredential: (use, now) => noteCredential(access, use, now),
    noteConfigured: (credentials, now) => noteConfigured(access, credentials, now),
    credentialUses: (credentials) => credentialUses(access, credentials),
    noteBaseUrl: (url) => writeSetting(access.write, "base_url", url),
    noteLongestRun: (ms) => noteLongestRun(access, ms),
    expireLeases: (now) => expireLeases(access, now),
    sweep: (olderThan) => sweep(access, olderThan),
  };
}

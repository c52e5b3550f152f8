import type { Database } from "../database.ts";
import { Audit, CredentialUses, RateCounters, Sessions } from "./access.ts";
import { Alerts } from "./alerts.ts";
import { Attempts } from "./attempts.ts";
import { Backfills } from "./backfills.ts";
import { BulkReplays } from "./bulk-replays.ts";
import { Callbacks } from "./callback-log.ts";
import { Captures } from "./captures.ts";
import { EndpointChecks } from "./endpoint-checks.ts";
import { Erasure } from "./erasure.ts";
import { EventReplays } from "./event-replays.ts";
import { FailureLeases } from "./failure-leases.ts";
import { Failures } from "./failures.ts";
import { GroupBlocks } from "./group-blocks.ts";
import { HandledEvents } from "./handled-events.ts";
import { Leases } from "./lease.ts";
import { NotificationDeliveries } from "./notification-deliveries.ts";
import { Notifications } from "./notifications.ts";
import { RedirectStates, UserTokens } from "./oauth.ts";
import { Originals } from "./originals.ts";
import { Outbox } from "./outbox.ts";
import { Preparations } from "./preparations.ts";
import { ProblemEvents } from "./problem-events.ts";
import { ProblemStates } from "./problem-states.ts";
import { Problems } from "./problems.ts";
import { Reconciliations } from "./reconciliations.ts";
import { RecordedRuns } from "./recorded-runs.ts";
import { Records } from "./records.ts";
import { RefusedSources } from "./refused-sources.ts";
import { Retention } from "./retention.ts";
import { Rollups } from "./rollups.ts";
import { EncryptedValues, TenantSecrets, TenantSecretUses } from "./secrets.ts";
import { SeenEvents } from "./seen-events.ts";
import { Settings } from "./settings.ts";
import { Sizes } from "./sizes.ts";
import { SourceActivity } from "./source-activity.ts";
import { SourceSecrets } from "./source-secrets.ts";
import { StoredEvents } from "./stored-events.ts";
import { ValueIndex } from "./value-index.ts";

/** The areas of a store: each is one class with its SQL, the same for both databases (decision 0062). */
export function createAreas(database: Database) {
  return {
    records: new Records(database),
    callbacks: new Callbacks(database),
    failures: new Failures(database),
    originals: new Originals(database),
    groupBlocks: new GroupBlocks(database),
    erasure: new Erasure(database),
    failureLeases: new FailureLeases(database),
    attempts: new Attempts(database),
    backfills: new Backfills(database),
    bulkReplays: new BulkReplays(database),
    eventReplays: new EventReplays(database),
    handledEvents: new HandledEvents(database),
    preparations: new Preparations(database),
    notifications: new Notifications(database),
    outbox: new Outbox(database),
    notificationDeliveries: new NotificationDeliveries(database),
    redirectStates: new RedirectStates(database),
    userTokens: new UserTokens(database),
    credentialUses: new CredentialUses(database),
    tenantSecretUses: new TenantSecretUses(database),
    tenantSecrets: new TenantSecrets(database),
    encryptedValues: new EncryptedValues(database),
    alerts: new Alerts(database),
    problems: new Problems(database),
    problemStates: new ProblemStates(database),
    problemEvents: new ProblemEvents(database),
    refusedSources: new RefusedSources(database),
    recordedRuns: new RecordedRuns(database),
    rollups: new Rollups(database),
    captures: new Captures(database),
    sessions: new Sessions(database),
    audit: new Audit(database),
    rateCounters: new RateCounters(database),
    reconciliations: new Reconciliations(database),
    leases: new Leases(database),
    storedEvents: new StoredEvents(database),
    seenEvents: new SeenEvents(database),
    settings: new Settings(database),
    sizes: new Sizes(database),
    sourceActivity: new SourceActivity(database),
    endpointChecks: new EndpointChecks(database),
    sourceSecrets: new SourceSecrets(database),
    retention: new Retention(database),
    valueIndex: new ValueIndex(database),
  };
}

export type Areas = Readonly<ReturnType<typeof createAreas>>;

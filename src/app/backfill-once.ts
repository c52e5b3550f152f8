import {
  configuredAuthorizationServer,
  configuredSources,
  createPlatformScheme,
  type Loaded,
  masksOf,
} from "../configured/index.ts";
import { PLATFORM } from "../domain/index.ts";
import { createRegistry } from "../handlers/index.ts";
import { createUserTokens } from "../oauth/index.ts";
import { createLogger } from "../observability/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import {
  type BackfillPreview,
  type BackfillTarget,
  handlerProblem,
  newLease,
  previewBackfill,
  runSample,
  unfinishedText,
  workOn,
} from "../retry/index.ts";
import { type BackfillCounts, MaintenanceError, type NewBackfill, type StoredBackfill } from "../store/index.ts";
import { systemClock } from "../system/index.ts";
import { openForCommand } from "./open-store.ts";
import { createServices, type ServiceDependencies } from "./services.ts";

export interface BackfillRequest extends Pick<NewBackfill, "handler" | "perSecond"> {
  /** One type; every one that has a handler when left out. */
  readonly type?: string | undefined;
  /** The age of the oldest events, in milliseconds. */
  readonly sinceMs: number;
  readonly includesFormer?: boolean;
  readonly isDryRun: boolean;
}

/** Of a dry run or of a first pass. A receiver looks later for what was still to commit during that. */
export interface BackfillReport extends BackfillCounts, Pick<BackfillPreview, "sample"> {
  readonly handler: string;
  /** Null for a dry run. */
  readonly id: number | null;
  /** `running` where the first pass is over, or another process goes on with it. */
  readonly state: StoredBackfill["state"] | null;
  /** Of a dry run: handlers' migrations that it does not apply. With any of them it runs no sample. */
  readonly unapplied: readonly string[];
}

const NO_SAMPLE = { run: 0, failed: [] };
const CREATED_BY = "command line";
const NEVER = new AbortController().signal;

/**
 * Hands the history of a handler's types to it, beside a receiver or without one. It runs no handler: each event is accepted,
 * and a receiver runs it. When the process is killed, a receiver continues once the lease has expired.
 * @throws MaintenanceError where there is no such handler, or another backfill of it is not over; MigrationError for a dry run in an older schema. StartError
 *   if the database cannot be opened
 */
export async function backfillOnce(loaded: Loaded, request: BackfillRequest): Promise<BackfillReport> {
  const { config, handlers } = loaded;
  const { handler, isDryRun } = request;
  const eventType = request.type ?? null;
  const configured = await configuredSources(config);
  // Without the built-in handler that stores the events of a source without handlers.
  const registry = createRegistry([], handlers);
  const sourceNames = [PLATFORM, ...configured.map(({ name }) => name)];
  const problem = handlerProblem({ handler, eventType }, { registry, sourceNames }, isDryRun);
  if (problem !== undefined) throw new MaintenanceError(problem);
  const { store, encryptor, applied } = await openForCommand(loaded, { changesNothing: isDryRun }, configured);
  try {
    const services = await quietServices({ config, configured, store, encryptor, registry });
    const report = await (isDryRun
      ? dryRun(request, services.receiver, applied)
      : firstPass(request, services.receiver));
    await services.close();
    return report;
  } finally {
    await store.close();
  }
}

async function dryRun(
  request: BackfillRequest,
  receiver: Receiver,
  unapplied: readonly string[],
): Promise<BackfillReport> {
  const runEach = unapplied.length > 0 ? undefined : (target: BackfillTarget) => runSample(target, receiver);
  const options = { runSample: runEach, budgetMs: Number.POSITIVE_INFINITY };
  const { isComplete: _, ...preview } = await previewBackfill(askedIn(request), options, receiver);
  return { handler: request.handler, id: null, state: null, ...preview, unapplied };
}

async function firstPass(request: BackfillRequest, receiver: Receiver): Promise<BackfillReport> {
  const { backfills } = receiver.store;
  const { handler, perSecond } = request;
  const lease = newLease(receiver);
  const asked = { ...askedIn(request), perSecond, createdBy: CREATED_BY };
  const { backfill: started, isNew } = await backfills.start(asked, lease.now, lease);
  if (!isNew) throw new MaintenanceError(unfinishedText(started));
  const ended = await workOn(started, { owner: lease.owner, stopping: NEVER }, receiver);
  const { counts, state } = ended ?? (await backfills.get(started.id)) ?? started;
  return { handler, id: started.id, state, ...counts, sample: NO_SAMPLE, unapplied: [] };
}

function askedIn({ handler, type, sinceMs, includesFormer = false }: BackfillRequest) {
  const since = new Date(Math.max(0, systemClock.now().getTime() - sinceMs)).toISOString();
  return { handler, eventType: type ?? null, since, includesFormer };
}

/** A receiver's parts without listeners, rounds and log. */
async function quietServices(
  opened: Pick<ServiceDependencies, "config" | "configured" | "store" | "encryptor" | "registry">,
) {
  const { config, configured, store, encryptor } = opened;
  const clock = systemClock;
  const masks = masksOf(config, { configured });
  const log = createLogger({ level: "silent", mask: masks.mask, destination: { write() {} } });
  const platform = configuredAuthorizationServer(config, () => config.baseUrl);
  const { receiver, callbackLog, metrics } = createServices({
    ...opened,
    ...masks,
    ...{ clock, logger: log, tracer: undefined, noteCredential() {} },
    scheme: await createPlatformScheme(config, clock),
    tokens: createUserTokens({ store: store.userTokens, platform, encryptor, clock, log }),
  });
  return {
    receiver,
    async close(): Promise<void> {
      metrics.close();
      await Promise.all([callbackLog.close(), receiver.concurrency.outsideLimitEnded()]);
    },
  };
}

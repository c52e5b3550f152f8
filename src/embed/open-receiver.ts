import { type Assembled, assemble, beginRounds, receiveParts, takeStore, UndoSteps } from "../app/index.ts";
import type { Config, ConfigFile } from "../config/index.ts";
import { openMaskedLog } from "../configured/index.ts";
import type { Handler } from "../handlers/index.ts";
import type { Logger, SecretValues } from "../observability/index.ts";
import { type Exchange, RequestSequence, UnverifiedBodies } from "../receive/index.ts";
import { createCalledWork } from "./called-work.ts";
import { logDestination } from "./log-destination.ts";
import type { ReceiverOptions, WorkDone, WorkOptions } from "./receiver.ts";

export type OpenedReceiver = Awaited<ReturnType<typeof openReceiver>>;

/** The time that a request under way may take to arrive during a close. */
const CLOSE_GRACE_MS = 2_000;

/**
 * Opens the database and assembles a receiver without listeners. When a step fails, the ones before it are undone, and
 * the log says why.
 */
export async function openReceiver(config: Config, file: ConfigFile, options: ReceiverOptions) {
  const { logger, secretValues } = await openMaskedLog(config, { destination: logDestination(options.logger) });
  const undo = new UndoSteps(logger);
  try {
    return await open(config, file, { ...options, logger, secretValues }, undo);
  } catch (error) {
    logger.error(
      { err: error },
      "the receiver could not be opened; its callbacks get 503, and the next one tries again",
    );
    await undo.run();
    throw error;
  }
}

interface OpenOptions extends Pick<ReceiverOptions, "background"> {
  readonly logger: Logger;
  readonly secretValues: SecretValues;
}

async function open(config: Config, file: ConfigFile, options: OpenOptions, undo: UndoSteps) {
  const { logger, secretValues, background: kind = "loops" } = options;
  const handlers = (file.handlers ?? []) as readonly Handler[];
  const assembled = await assemble(config, { handlers, migrations: file.migrations ?? [], logger, secretValues }, undo);
  await takeStore(assembled);
  const { services, background } = assembled;
  const { receiver, callbackLog, rollups } = services;
  const { options: bounds, dependencies } = receiveParts(assembled, { hasTls: false, requireHttps: false });
  const largest = [...bounds.sourceBounds.values()].map(({ maxBodyBytes = 0 }) => maxBodyBytes);
  const mostBytes = Math.max(bounds.maxBodyBytes, ...largest);
  const unverified = new UnverifiedBodies(bounds.maxUnverifiedBytes, mostBytes, config.requestTimeoutMs);
  const requests = new RequestSequence(bounds, dependencies, unverified);
  undo.add("background work", background.stop);
  undo.add("requests", async () => {
    const late = setInterval(
      () => {
        while (unverified.endOldest());
      },
      Math.min(CLOSE_GRACE_MS, config.requestTimeoutMs),
    );
    await unverified.allGone();
    clearInterval(late);
    await receiver.concurrency.idle();
  });
  if (kind === "loops") beginRounds(assembled, {}, undo);
  if (config.isBaseUrlGiven) await receiver.store.settings.noteBaseUrl(config.baseUrl);
  const flush = async (): Promise<void> => {
    await Promise.all([callbackLog.flush(), rollups.flush(), receiver.statementLog?.flush()]);
  };
  const assertIntact = watchStore(receiver.store, logger);
  const called = createCalledWork(assembled);
  undo.add("calls of work()", called.close);
  const lookForSecrets = kind === "none" ? secretLookup(assembled) : undefined;
  return {
    assembled,
    start: (exchange: Exchange): void => requests.start(exchange, lookForSecrets?.()),
    /** @throws StoreError after a failure that only a new process mends */
    assertIntact,
    async work(workOptions: WorkOptions): Promise<WorkDone> {
      assertIntact();
      const done = await called.work(workOptions);
      await flush();
      return done;
    },
    flush,
    /** A function stays alive for it: it runs accepted events, which nothing else would run soon, and stores the log. */
    async afterResponse(): Promise<void> {
      if (kind === "none") await called.afterResponse();
      await flush();
    },
    close: () => undo.run(),
  };
}

const BROKEN =
  "the database takes nothing any more: callbacks get 503, and ready() and work() reject. Check the disk, and restart this " +
  "process: only a new one can find out what the disk holds";

/** A server ends its process then. That of an application is not the receiver's to end: its readiness probe decides. */
function watchStore({ broken }: Assembled["services"]["receiver"]["store"], log: Logger): () => void {
  let failure: Error | undefined;
  void broken.then((error) => {
    failure = error;
    log.error({ err: error }, BROKEN);
  });
  return () => {
    if (failure !== undefined) throw failure;
  };
}

const LOOK_EVERY_MS = 5_000;

/** Without loops, a callback looks for secrets that another instance has learnt, or an operator has forgotten. */
function secretLookup({ services: { configured, learntSecrets } }: Assembled) {
  const learns = configured.some(({ definition }) => definition.learns);
  return learns ? () => learntSecrets?.lookAfter(LOOK_EVERY_MS) : undefined;
}

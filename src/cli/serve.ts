import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { type RunningReceiver, start } from "../app/index.ts";
import { configuredSources, openMaskedLog, sourceUrl } from "../configured/index.ts";
import { sampleTypeOf } from "../doctor/index.ts";
import { closeLogger, type Logger } from "../observability/index.ts";
import { withTimeout } from "../system/index.ts";
import { type ConfigurationOptions, type LoadedConfiguration, loadConfiguration } from "./load-configuration.ts";
import { PACKAGE_FOLDER } from "./package-manifest.ts";

/** Below the ten seconds after which supervisors commonly kill. */
const DRAIN_LIMIT_MS = 9_500;
const FLUSH_LIMIT_MS = 1_000;
/** The limit of an exit after a drain. On a busy machine Node takes seconds to store compiled code at the first one. */
const EXIT_LIMIT_MS = 5_000;

export async function serve(options: ConfigurationOptions): Promise<void> {
  const loaded = await loadConfiguration(options, { isEmbedded: false });
  const { config, handlers, migrations } = loaded;
  const { logger, secretValues } = await openMaskedLog(config);
  const signalled = Promise.withResolvers<NodeJS.Signals>();
  // Before the start, so that a signal during the start is handled too.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, signalled.resolve);
  handleProcessErrors(logger);
  const running = await start(config, { handlers, migrations, logger, secretValues });
  await printStartup(loaded, running);
  // In development a debugger may halt this thread for any time.
  if (config.environment !== "development" && !startStallWatchdog(config.handlerTimeoutMs)) logger.warn({}, UNWATCHED);
  logger.info({ public: running.publicOrigin, admin: running.adminOrigin, environment: config.environment }, "serving");
  const reason = await Promise.race([signalled.promise, running.broken]);
  if (reason instanceof Error) logger.fatal({ err: reason }, brokenMessage(reason));
  else logger.info({ signal: reason }, "draining");
  const late = setTimeout(() => {
    process.stderr.write(`oncehook: the drain did not finish within ${DRAIN_LIMIT_MS} ms; exiting all the same\n`);
    exitProcess(1);
  }, DRAIN_LIMIT_MS);
  const isClean = await running.stop().then(
    () => true,
    (error: unknown) => {
      logger.error({ err: error }, "stopped with errors; this process exits with code 1");
      return false;
    },
  );
  clearTimeout(late);
  // The disk may have failed while draining too.
  const broken = await Promise.race([running.broken, Promise.resolve(undefined)]);
  if (broken !== undefined && !(reason instanceof Error)) logger.fatal({ err: broken }, brokenMessage(broken));
  if (isClean) logger.info({}, "stopped");
  await withTimeout(closeLogger(logger), FLUSH_LIMIT_MS, undefined);
  exitProcess(isClean && broken === undefined ? 0 : 1, EXIT_LIMIT_MS);
}

/**
 * Exits even if pending output is never read. A write to a full pipe blocks this thread for as long as the pipe stays
 * full.
 */
function exitProcess(code: number, limitMs = FLUSH_LIMIT_MS): never {
  try {
    new Worker(`setTimeout(() => process.kill(process.pid, "SIGKILL"), ${limitMs})`, { eval: true });
  } catch {
    // Under Node's permission model without --allow-worker there is no other thread to see to it.
  }
  process.exit(code);
}

const brokenMessage = ({ message }: Error) =>
  `${message}; nothing is acknowledged any more, and this process exits: let a service manager restart it, which ` +
  "begins with what the disk has";
const UNWATCHED = "the stall watchdog is off: Node's permission model blocks its thread; allow it with --allow-worker";
const UNHANDLED_REJECTION = "unhandled promise rejection; look for a missing await in a handler";
const UNCAUGHT_EXCEPTION =
  "uncaught exception; the state is unknown, so this process exits: let a " +
  "service manager start it, and look at the stack";

function handleProcessErrors(logger: Logger): void {
  // A promise that a handler left behind says nothing about other events: it is logged, and the process goes on.
  process.on("unhandledRejection", (error) => logger.error({ err: error }, UNHANDLED_REJECTION));
  // A callback that throws leaves its caller in an unknown state. Callbacks in progress are not acknowledged, and are redelivered.
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, UNCAUGHT_EXCEPTION);
    // At once: no further response may go out. Pending log lines are written on the way out.
    exitProcess(1);
  });
}

/** A summary for a person, on standard error: standard output is only the log. */
async function printStartup(loaded: LoadedConfiguration, { adminOrigin, publicOrigin }: RunningReceiver) {
  const { config, handlers, generated, secretsFile } = loaded;
  const sources = await configuredSources(config);
  const receives = config.servesPlatform
    ? `callbacks at ${config.baseUrl}/api/platform/callback`
    : `callbacks of ${sources.map(({ name }) => name).join(", ")}`;
  const lines = [
    `Oncehook receives ${receives} (listening on ${publicOrigin})`,
    ...sources.map((source) => {
      const url = source.definition.settings.url ?? sourceUrl(source, config.baseUrl);
      return `Source ${source.name} at ${url}`;
    }),
    `Admin, health and metrics at ${adminOrigin}`,
  ];
  if (generated.length > 0)
    lines.push(`Generated for ${config.environment}: ${generated.join(", ")} in ${secretsFile}`);
  // `send` has a sample for the built-in handler; one of the user's own may want other data.
  const type = "payment_notify";
  const isOwn = handlers.some((handler) => handler.type === type);
  // Only a clone has a script of that name.
  const command = process.cwd() === resolve(PACKAGE_FOLDER) ? "npm run oncehook --" : "npx oncehook";
  if (config.environment === "development" && config.builtInHandlers.includes(type) && !isOwn)
    lines.push(`Try it: ${command} send ${type}`);
  if (config.environment === "development") lines.push(...(await sourceTrial(command, sources, handlers)));
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** Of the first source of which a callback can be made here; empty where there is none. */
async function sourceTrial(
  command: string,
  sources: Awaited<ReturnType<typeof configuredSources>>,
  handlers: LoadedConfiguration["handlers"],
): Promise<string[]> {
  for (const source of sources) {
    const { name } = source;
    const types = handlers.filter((handler) => handler.source === name).map(({ type }) => type);
    const type = await sampleTypeOf(source, types);
    if (type !== null) return [`Try it: ${command} send --source ${name} ${type}`];
  }
  return [];
}

const BEAT_MS = 1_000;
const MIN_LIMIT_MS = 5_000;
const HANDLER_LIMITS = 3;

const STALLED =
  "the main thread was blocked for longer than any handler may take, probably by an endless loop in a handler; " +
  "this process ends, and what was under way comes again: let a service manager start it, and look at the handlers";

/**
 * No timer of this thread fires while a handler's loop blocks it. Another thread counts the seconds in which this one
 * does not answer, and ends the process. A process that was halted as a whole has missed none.
 * @returns false under Node's permission model without --allow-worker, where nothing watches
 */
function startStallWatchdog(handlerTimeoutMs: number): boolean {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const missable = Math.ceil(Math.max(MIN_LIMIT_MS, HANDLER_LIMITS * handlerTimeoutMs) / BEAT_MS);
  try {
    const workerData = { beats, beatMs: BEAT_MS, missable, line: { level: 60, msg: STALLED } };
    const worker = new Worker(WATCHDOG_CODE, { eval: true, workerData, resourceLimits: SMALL });
    // It has failed to start, or run out of memory: nothing watches then, and nothing else is wrong.
    worker.on("error", () => {});
    worker.unref();
  } catch {
    return false;
  }
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  return true;
}

/** In mebibytes. */
const SMALL = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 };

/** The line is written by a thread of the pool, with a time limit: the output may not be read. */
const WATCHDOG_CODE = `
  const { workerData } = require("node:worker_threads");
  const { write } = require("node:fs");
  const { beats, beatMs, missable, line } = workerData;
  const kill = () => process.kill(process.pid, "SIGKILL");
  let seen = -1;
  let missed = 0;
  setInterval(() => {
    const beat = Atomics.load(beats, 0);
    missed = beat === seen ? missed + 1 : 0;
    seen = beat;
    if (missed !== missable) return;
    const { level, ...rest } = line;
    const text = JSON.stringify({ level, time: new Date().toISOString(), ...rest });
    setTimeout(kill, beatMs);
    write(1, text + "\\n", kill);
  }, beatMs);
`;

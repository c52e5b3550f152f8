import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Command } from "commander";
import { type Running, start } from "../app/index.ts";
import type { Handler } from "../handlers/index.ts";
import { closeLogger, createLogger, createMask, type Logger } from "../observe/index.ts";
import { noteUnhandledRejection } from "../store/index.ts";
import { type ConfigurationOptions, configuredCommand } from "./configured-command.ts";
import { type Loaded, load } from "./load.ts";
import { PACKAGE_FOLDER } from "./own-package.ts";
import { watchForStalls } from "./stall-watch.ts";

/** Below the ten seconds after which supervisors commonly kill. */
const DRAIN_LIMIT_MS = 9_500;
const FLUSH_LIMIT_MS = 1_000;
/** Of an exit after a drain: on a busy machine Node takes seconds to store its compiled code at the first one. */
const EXIT_LIMIT_MS = 5_000;

export function serveCommand(): Command {
  return configuredCommand("serve")
    .description("Start the receiver: the public listener, the admin listener and the retry loop.")
    .action(async (options: ConfigurationOptions) => serve(await load(options)));
}

async function serve(loaded: Loaded): Promise<void> {
  const { config, file } = loaded;
  const mask = createMask({ ...config.mask, secretValues: config.secretValues });
  const logger = createLogger({ level: config.logLevel, mask });
  const signalled = Promise.withResolvers<NodeJS.Signals>();
  // Before the start, so that a signal in the middle of it is heard too.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, signalled.resolve);
  hearFaults(logger);
  const running = await start(config, {
    handlers: (file.handlers ?? []) as readonly Handler[],
    migrations: file.migrations ?? [],
    logger,
  });
  greet(loaded, running);
  // A developer may halt this thread in a debugger for as long as he likes.
  if (config.environment !== "development" && !watchForStalls(config.handlerTimeoutMs))
    logger.warn({}, UNWATCHED);
  logger.info(
    { public: running.publicOrigin, admin: running.adminOrigin, environment: config.environment },
    "serving",
  );
  const reason = await Promise.race([signalled.promise, running.broken]);
  if (reason instanceof Error) logger.fatal({ err: reason }, brokenBy(reason));
  else logger.info({ signal: reason }, "draining");
  const late = setTimeout(() => {
    process.stderr.write(
      `oncehook: what was under way did not end within ${DRAIN_LIMIT_MS} ms; exiting all the same\n`,
    );
    end(1);
  }, DRAIN_LIMIT_MS);
  await running.stop();
  clearTimeout(late);
  // The disk may have failed while draining too.
  const broken = await Promise.race([running.broken, Promise.resolve(undefined)]);
  if (broken !== undefined && !(reason instanceof Error)) logger.fatal({ err: broken }, brokenBy(broken));
  logger.info({}, "stopped");
  await Promise.race([closeLogger(logger), sleep(FLUSH_LIMIT_MS)]);
  end(broken === undefined ? 0 : 1, EXIT_LIMIT_MS);
}

/**
 * Exits, and does so although nobody reads what is still to be written: a write to a full pipe blocks this thread for as
 * long as nobody does.
 */
function end(code: number, limitMs = FLUSH_LIMIT_MS): never {
  try {
    new Worker(`setTimeout(() => process.kill(process.pid, "SIGKILL"), ${limitMs})`, { eval: true });
  } catch {
    // Under Node's permission model without --allow-worker there is no other thread to see to it.
  }
  process.exit(code);
}

const brokenBy = ({ message }: Error) =>
  `${message}; nothing is acknowledged any more, and this process ends: let a service manager start the next one, which ` +
  "begins with what the disk has";
const UNWATCHED =
  "nothing watches for a handler that loops without an end: Node's permission model keeps the thread from it; allow it with --allow-worker";
const NOT_AWAITED = "a promise failed that nobody awaited; look for a missing await in a handler";
const NOT_CAUGHT =
  "an error was thrown where nobody could catch it, and nobody knows what it left half done; this process ends: let a " +
  "service manager start it, and look at the stack";

function hearFaults(logger: Logger): void {
  // A promise that a handler left behind says nothing about other events: it is logged, and the process goes on.
  process.on("unhandledRejection", (error) => {
    noteUnhandledRejection(error);
    logger.error({ err: error }, NOT_AWAITED);
  });
  // A callback that throws has left the state of whoever called it. What is under way is not acknowledged, and comes again.
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, NOT_CAUGHT);
    // At once: nothing more may be answered. What was logged is written on the way out.
    end(1);
  });
}

/** What a person wants to see first; on standard error, so that standard output is the log alone. */
function greet(
  { config, file, generated, secretsFile }: Loaded,
  { adminOrigin, publicOrigin }: Running,
): void {
  const lines = [
    `Oncehook receives callbacks at ${config.baseUrl}/api/platform/callback (listening on ${publicOrigin})`,
    `Admin, health and metrics at ${adminOrigin}`,
  ];
  if (generated.length > 0)
    lines.push(`Generated for ${config.environment}: ${generated.join(", ")} in ${secretsFile}`);
  if (config.environment === "development" && sampleIsHandled({ config, file }))
    lines.push(`Try it: ${isClone() ? "npm run oncehook --" : "npx oncehook"} send payment_notify`);
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** Only there is a script of that name. */
function isClone(): boolean {
  return process.cwd() === resolve(PACKAGE_FOLDER);
}

/** `send` has a sample for the built-in handler; one of the user's own may want other data. */
function sampleIsHandled({ config, file }: Pick<Loaded, "config" | "file">): boolean {
  const type = "payment_notify";
  return config.builtInHandlers.includes(type) && !file.handlers?.some((handler) => handler.type === type);
}

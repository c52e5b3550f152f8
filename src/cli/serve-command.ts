import { Command } from "commander";
import { type Running, start } from "../app/index.ts";
import type { Handler } from "../handlers/index.ts";
import { closeLogger, createLogger, createMask } from "../observe/index.ts";
import { type Loaded, load } from "./load.ts";

/** Below the ten seconds after which supervisors commonly kill. */
const DRAIN_LIMIT_MS = 9_500;

export function serveCommand(): Command {
  return new Command("serve")
    .description("Start the receiver: the public listener, the admin listener and the retry loop.")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option("--config <file>", "the configuration file (default: oncehook.config.ts, where there is one)")
    .action(async (options: { env?: string; config?: string }) => serve(await load(options)));
}

async function serve(loaded: Loaded): Promise<void> {
  const { config, file } = loaded;
  const mask = createMask({ ...config.mask, secretValues: config.secretValues });
  const logger = createLogger({ level: config.logLevel, mask });
  const stopping = Promise.withResolvers<NodeJS.Signals>();
  // Before the start, so that a signal in the middle of it is heard too.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stopping.resolve);
  // A promise that a handler left behind says nothing about the others: it is told, and the process goes on.
  process.on("unhandledRejection", (error) => {
    logger.error(
      { err: error },
      "a promise failed that nobody awaited; look for a missing await in a handler",
    );
  });
  const running = await start(config, {
    handlers: (file.handlers ?? []) as readonly Handler[],
    migrations: file.migrations ?? [],
    logger,
  });
  greet(loaded, running);
  logger.info(
    { public: running.publicOrigin, admin: running.adminOrigin, environment: config.environment },
    "serving",
  );
  const signal = await stopping.promise;
  logger.info({ signal }, "draining");
  const late = setTimeout(() => {
    process.stderr.write(
      `oncehook: what was under way did not end within ${DRAIN_LIMIT_MS} ms; exiting all the same\n`,
    );
    process.exit(1);
  }, DRAIN_LIMIT_MS);
  await running.stop();
  clearTimeout(late);
  logger.info({}, "stopped");
  await closeLogger(logger);
  process.exit(0);
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
    lines.push("Try it: npm run oncehook -- send payment_notify");
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** `send` has a sample for the built-in handler; one of the user's own may want other data. */
function sampleIsHandled({ config, file }: Pick<Loaded, "config" | "file">): boolean {
  const type = "payment_notify";
  return config.builtInHandlers.includes(type) && !file.handlers?.some((handler) => handler.type === type);
}

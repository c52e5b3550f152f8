import type { Installation } from "../admin/index.ts";
import { OF_THE_SERVER } from "../doctor/index.ts";
import { DAY_MS, PLATFORM } from "../domain/index.ts";
import { withTimeout } from "../system/index.ts";
import type { Assembled } from "./assemble.ts";
import { databaseName, runDoctor } from "./commands.ts";

/** The checks ask services of others; each of them has a shorter limit. */
const CHECKS_MS = 30_000;

/** The process itself, for an operator. @param isApplication leaves out what only a server has */
export function createInstallation(
  { config, services, background, userHandlers }: Assembled,
  isApplication: boolean,
): Installation {
  const { retention, sources } = config;
  const { logDays, recordDays, refusedBytes, originalsMs } = retention;
  const isLeftOut = (check: string) => check === ENVIRONMENTS || (isApplication && OF_THE_SERVER.has(check));
  const findings = async () =>
    (await runDoctor(config, [], [], userHandlers.handlers)).filter(({ check }) => !isLeftOut(check));
  let running: ReturnType<typeof findings> | undefined;
  const names = [...(config.servesPlatform ? [PLATFORM] : []), ...services.configured.map(({ name }) => name)];
  const keepOf = (source: string) => sources.named.find(({ name }) => name === source)?.limits.keep ?? originalsMs;
  return {
    database: databaseName(config.database),
    values: config.values,
    retention: {
      callbacks_ms: logDays * DAY_MS,
      records_ms: recordDays === null ? null : recordDays * DAY_MS,
      refused_bytes: refusedBytes,
      audit_ms: Math.max(logDays, AUDIT_DAYS) * DAY_MS,
      originals: names.map((source) => ({ source, keep_ms: keepOf(source) })),
    },
    rounds: background.rounds,
    async check() {
      running ??= findings().finally(() => {
        running = undefined;
      });
      return withTimeout(running, CHECKS_MS, undefined);
    },
  };
}

const AUDIT_DAYS = 365;
/** It compares files of the folder in which the command runs. */
const ENVIRONMENTS = "environments";

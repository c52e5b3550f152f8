import { resolve } from "node:path";
import type { Command } from "commander";
import { type CopyReport, copyDatabase } from "../app/index.ts";
import { brokenInvariants, databaseSummary, invariantLine, verifySummary } from "./database-commands.ts";
import { type ConfigurationOptions, configurationCommand, loadConfiguration } from "./load-configuration.ts";
import { JSON_OPTION, type JsonOptions, printResult, table } from "./output.ts";
import { UsageError } from "./user-error.ts";

interface CopyOptions extends ConfigurationOptions, JsonOptions {
  readonly from: string;
  readonly to?: string;
  readonly skip?: readonly string[];
}

const PROGRESS_EVERY_MS = 1_000;

export function copyCommand(): Command {
  return configurationCommand("copy")
    .description(
      "Copy an SQLite database to an empty PostgreSQL database, and compare every row. Stop the receiver first; run it again to continue.",
    )
    .requiredOption("--from <address>", "the source, such as sqlite:data/oncehook.db; it is not changed")
    .option("--to <address>", "the target, such as postgres://user@host/name (default: DATABASE_URL)")
    .option("--skip <table...>", "tables of your own that stay behind")
    .option(...JSON_OPTION)
    .action(copyAll);
}

async function copyAll(options: CopyOptions): Promise<void> {
  const from = fileOf(options.from);
  const { to } = options;
  if (to !== undefined && !/^postgres(ql)?:\/\//.test(to))
    throw new UsageError(`--to: got ${JSON.stringify(to)}, expected postgres://user@host/name`);
  // As if it were configured, so that it is checked and opened as the receiver will open it.
  if (to !== undefined) process.env.DATABASE_URL = to;
  const { config, handlers, migrations } = await loadConfiguration(options);
  if (config.database.kind !== "postgres")
    throw new UsageError("--to: not given, and DATABASE_URL is no PostgreSQL database; name the target");
  const { skip = [] } = options;
  const report = await copyDatabase({
    from,
    config,
    handlers,
    migrations,
    skip,
    onProgress: progressLines(),
  });
  printResult(options, report, () => {
    const checked = [
      ...brokenInvariants(report.checked).map(invariantLine),
      verifySummary(report.checked),
    ].join("\n");
    return `${copyReportText(report)}${databaseSummary(config, report.checked)}\n${checked}\n${NEXT}`;
  });
  if (brokenInvariants(report.checked).length > 0) process.exitCode = 1;
}

const NEXT =
  "Next: set DATABASE_URL to the target and start the receiver. The source is unchanged: no receiver may use it from now " +
  "on, or its events are handled a second time.\n";

function fileOf(address: string): string {
  if (/^sqlite:.+/.test(address)) return resolve(address.slice("sqlite:".length));
  throw new UsageError(
    `--from: got ${JSON.stringify(address)}, expected an SQLite database, such as sqlite:data/oncehook.db`,
  );
}

/** On standard error: a line for each table, and one a second of a table that takes longer. */
function progressLines() {
  let last = performance.now();
  return (name: string, copied: number, rows: number): void => {
    const now = performance.now();
    if (copied < rows && now - last < PROGRESS_EVERY_MS) return;
    last = now;
    process.stderr.write(`${name}: ${copied} of ${rows}\n`);
  };
}

function copyReportText({ from, to, continued, wasComplete, tables, notCopied }: CopyReport): string {
  const rows = tables.map((one) => [one.table, String(one.rows)]);
  const left = notCopied.map((one) => `"${one.table}" (${one.rows} rows)`).join(", ");
  return (
    `${table(["table", "rows"], rows)}\n\n` +
    (wasComplete
      ? `The copy of ${from} to ${to} was complete already, and nothing was changed; every row was compared.\n`
      : `${from} was copied to ${to}${continued ? ", continuing an earlier run" : ""}; every row was read back and compared.\n`) +
    (left === "" ? "" : `NOT copied: ${left}\n`)
  );
}

import { resolve } from "node:path";
import { Command } from "commander";
import type { CopyReport, DatabaseLocation } from "../app/index.ts";
import type { IntegrityReport, InvariantResult } from "../store/index.ts";
import {
  applicationEnvironment,
  type ConfigurationOptions,
  configurationCommand,
  loadConfiguration,
  loadEnvFile,
} from "./load-configuration.ts";
import {
  escapeControls,
  escapeLines,
  type Given,
  JSON_OPTION,
  type JsonOptions,
  MARKS,
  printResult,
  printStyled,
  table,
} from "./output.ts";
import { UsageError, unexpected } from "./user-error.ts";

type DatabaseOptions = Given<"env">;

function databaseCommand(name: string): Command {
  return new Command(name).option("--env <file>", "read APP_ENV and DATABASE_URL from a file as well");
}

async function loadDatabaseLocation({ env }: DatabaseOptions): Promise<DatabaseLocation> {
  const { loadDatabase } = await import("./config-modules.ts");
  if (env !== undefined) loadEnvFile(env);
  return loadDatabase((await applicationEnvironment()) ?? process.env);
}

/** Loaded on demand, to keep the start of other commands fast. */
const appModules = () => import("../app/index.ts");

/** Names the database, so that an operator with several notices the wrong one. */
async function databaseSummary({ database }: DatabaseLocation, { contents }: IntegrityReport, file?: string) {
  const { databaseName } = await appModules();
  const name = databaseName(database, file);
  if (contents === undefined) return `${name}: nothing in it can be read`;
  const { environment, records, newestRecordAt } = contents;
  const newest = newestRecordAt === null ? "" : `, the newest of ${newestRecordAt}`;
  return `${name}: environment ${environment ?? "not stamped yet"}, ${records} events${newest}`;
}

export function verifyCommand(): Command {
  return databaseCommand("verify")
    .description("Check database integrity, read-only, beside a receiver. Exit code 1 when a check fails.")
    .argument("[file]", "an SQLite file, such as a backup, instead of DATABASE_URL")
    .option("--json", "print what was found as JSON, for scripts")
    .action(async (file: string | undefined, options: DatabaseOptions & JsonOptions) => {
      const where = await loadDatabaseLocation(options);
      const { databaseName, verifyDatabase } = await appModules();
      const checked = await verifyDatabase(where, file);
      const summary = await databaseSummary(where, checked, file);
      const database = databaseName(where.database, file);
      printStyled(options, { database, ...checked }, () => {
        const lines = [...checked.invariants.map(invariantLine), summary];
        return `${[...lines, verifySummary(checked)].join("\n")}\n`;
      });
      if (brokenInvariants(checked).length > 0) process.exitCode = 1;
    });
}

function brokenInvariants({ invariants }: IntegrityReport): readonly InvariantResult[] {
  return invariants.filter(({ violations }) => violations > 0);
}

function verifySummary(checked: IntegrityReport): string {
  const broken = brokenInvariants(checked).length;
  const all = checked.invariants.length;
  if (broken === 0) return `all ${all} hold`;
  return `${broken} of ${all} do not hold; docs/reliability.md, "What verify finds", says what each means and what to do`;
}

function invariantLine({ name, message, violations, examples }: InvariantResult): string {
  const line = `${name}: ${message}`;
  if (violations === 0) return `${MARKS.ok()} ${line}`;
  const more = violations > examples.length ? ", …" : "";
  // An event's id may hold anything.
  const named = escapeControls(examples.join(", "));
  return `${MARKS.failure()} ${line}; ${violations} against it: ${named}${more}`;
}

export function backupCommand(): Command {
  return databaseCommand("backup")
    .description("Copy the embedded database beside a receiver. Exit code 1 when the copy's check fails.")
    .argument("<file>", "the copy; it must not exist")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = await loadDatabaseLocation(options);
      const copy = await (await appModules()).backup(where, file);
      process.stdout.write(`${file} is a copy of ${await databaseSummary(where, copy)}\n`);
      // The copy is as good as what it was made of, and is kept.
      if (printBroken(copy)) process.exitCode = 1;
    });
}

export function restoreCommand(): Command {
  return databaseCommand("restore")
    .description("Put a copy in the place of the embedded database. The receiver must be stopped.")
    .argument("<file>", "what `oncehook backup` wrote")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = await loadDatabaseLocation(options);
      const { keptAs, copy } = await (await appModules()).restore(where, file);
      const kept = keptAs === undefined ? "" : `What was there is kept as ${keptAs}; to go back, restore that.\n`;
      process.stdout.write(
        `${file} was put in place: ${await databaseSummary(where, copy)}\n${kept}` +
          "Have the platforms send again what they sent since that copy was made: what the copy knows is answered already_processed.\n",
      );
      printBroken(copy);
    });
}

function printBroken(copy: IntegrityReport): boolean {
  const isBroken = brokenInvariants(copy).length > 0;
  if (isBroken) process.stdout.write(`${checkLines(copy).join("\n")}\n`);
  return isBroken;
}

function checkLines(checked: IntegrityReport): string[] {
  return [...brokenInvariants(checked).map(invariantLine), verifySummary(checked)];
}

export function migrateCommand(): Command {
  return configurationCommand("migrate")
    .description("Bring the database's schema up to date and exit. `serve` does the same at its start.")
    .option("--accept-new-key", "take ENCRYPTION_KEY although the one before is lost")
    .option(...JSON_OPTION)
    .action(async (options: ConfigurationOptions & JsonOptions & { acceptNewKey?: true }) => {
      const { acceptNewKey = false } = options;
      const { migrate } = await appModules();
      const applied = await migrate(await loadConfiguration(options), { acceptNewKey });
      const done = applied.map((name) => `applied ${name}\n`).join("");
      printResult(options, { applied }, () => (done === "" ? "the database is up to date\n" : done));
    });
}

interface CopyOptions extends ConfigurationOptions, JsonOptions, Given<"to"> {
  readonly from: string;
  readonly skip?: readonly string[];
}

const PROGRESS_EVERY_MS = 1_000;

export function copyCommand(): Command {
  return configurationCommand("copy")
    .description("Copy SQLite to an empty PostgreSQL and compare every row. Stop the receiver first.")
    .requiredOption("--from <address>", "the source, such as sqlite:data/oncehook.db; it is not changed")
    .option("--to <address>", "the target, such as postgres://user@host/name (default: DATABASE_URL)")
    .option("--skip <table...>", "tables of your own that stay behind")
    .option(...JSON_OPTION)
    .action(copyAll);
}

async function copyAll(options: CopyOptions): Promise<void> {
  const from = fileOf(options.from);
  const { to } = options;
  if (to !== undefined && !/^postgres(ql)?:\/\//.test(to)) throw unexpected("--to", to, "postgres://user@host/name");
  // As if it were configured, so that it is checked and opened as the receiver will open it.
  if (to !== undefined) {
    // Before the address is set, since the environment wins over the file.
    if (options.env !== undefined) loadEnvFile(options.env);
    process.env[process.env.ONCEHOOK_DATABASE_URL ? "ONCEHOOK_DATABASE_URL" : "DATABASE_URL"] = to;
  }
  const loaded = await loadConfiguration(options);
  const { config } = loaded;
  if (config.database.kind !== "postgres")
    throw new UsageError("--to: not given, and DATABASE_URL is no PostgreSQL database; name the target");
  const { skip = [] } = options;
  const onProgress = progressLines();
  const { copyDatabase } = await appModules();
  const report = await copyDatabase({ ...loaded, from, skip, onProgress });
  const summary = await databaseSummary(config, report.checked);
  printStyled(options, report, () => {
    const checked = [summary, ...checkLines(report.checked)].join("\n");
    return `${escapeLines(copyReportText(report))}${checked}\n${NEXT}`;
  });
  if (brokenInvariants(report.checked).length > 0) process.exitCode = 1;
}

const NEXT =
  "Next: set DATABASE_URL to the target and start the receiver. The source is unchanged: no receiver may use it from now " +
  "on, or its events are handled a second time.\n";

function fileOf(address: string): string {
  if (/^sqlite:.+/.test(address)) return resolve(address.slice("sqlite:".length));
  throw unexpected("--from", address, "an SQLite database, such as sqlite:data/oncehook.db");
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

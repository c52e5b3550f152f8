import { styleText } from "node:util";
import { Command } from "commander";
import {
  backup,
  type DatabaseLocation,
  databaseName,
  migrate,
  restore,
  verifyDatabase,
} from "../app/index.ts";
import { loadDatabase } from "../config/index.ts";
import type { IntegrityReport, InvariantResult } from "../store/index.ts";
import {
  type ConfigurationOptions,
  configurationCommand,
  loadConfiguration,
  loadEnvFile,
} from "./load-configuration.ts";
import { escapeControls, escapedJson, JSON_OPTION, type JsonOptions, printResult } from "./output.ts";

export interface DatabaseOptions {
  readonly env?: string;
}

/** A command that looks after a database, and needs to know of the configuration only which one. */
export function databaseCommand(name: string): Command {
  return new Command(name).option(
    "--env <file>",
    "read APP_ENV and DATABASE_URL from a file as well; the environment wins",
  );
}

export function loadDatabaseLocation({ env }: DatabaseOptions): DatabaseLocation {
  if (env !== undefined) loadEnvFile(env);
  return loadDatabase(process.env);
}

/** Names the database, so that an operator with several notices the wrong one. */
export function databaseSummary(
  { database }: DatabaseLocation,
  { contents }: IntegrityReport,
  file?: string,
): string {
  const name = databaseName(database, file);
  if (contents === undefined) return `${name}: nothing in it can be read`;
  const { environment, records, newestRecordAt } = contents;
  const newest = newestRecordAt === null ? "" : `, the newest of ${newestRecordAt}`;
  return `${name}: environment ${environment ?? "not stamped yet"}, ${records} events${newest}`;
}

export function verifyCommand(): Command {
  return databaseCommand("verify")
    .description(
      "Check database integrity, also while the receiver runs; read-only. Exit code 1 when a check fails.",
    )
    .argument("[file]", "an SQLite file, such as a backup, instead of DATABASE_URL")
    .option("--json", "print what was found as JSON, for scripts")
    .action(async (file: string | undefined, options: DatabaseOptions & JsonOptions) => {
      const where = loadDatabaseLocation(options);
      const checked = await verifyDatabase(where, file);
      const database = databaseName(where.database, file);
      const text =
        options.json === true
          ? escapedJson({ database, ...checked }, 2)
          : [
              ...checked.invariants.map(invariantLine),
              databaseSummary(where, checked, file),
              verifySummary(checked),
            ].join("\n");
      process.stdout.write(`${text}\n`);
      if (brokenInvariants(checked).length > 0) process.exitCode = 1;
    });
}

export function brokenInvariants({ invariants }: IntegrityReport): readonly InvariantResult[] {
  return invariants.filter(({ violations }) => violations > 0);
}

export function verifySummary(checked: IntegrityReport): string {
  const broken = brokenInvariants(checked).length;
  const all = checked.invariants.length;
  if (broken === 0) return `all ${all} hold`;
  return `${broken} of ${all} do not hold; docs/reliability.md, "What verify finds", says what each means and what to do`;
}

export function invariantLine({ name, message, violations, examples }: InvariantResult): string {
  const line = `${name}: ${message}`;
  if (violations === 0) return `${styleText("green", "ok     ")} ${line}`;
  const more = violations > examples.length ? ", …" : "";
  // An event's id may hold anything.
  const named = escapeControls(examples.join(", "));
  return `${styleText("red", "FAILURE")} ${line}; ${violations} against it: ${named}${more}`;
}

export function backupCommand(): Command {
  return databaseCommand("backup")
    .description(
      "Copy the embedded database as it is at one instant, while the receiver serves. Exit code 1 when the integrity check fails; the copy is kept.",
    )
    .argument("<file>", "the copy; it must not exist")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = loadDatabaseLocation(options);
      const copy = await backup(where, file);
      process.stdout.write(`${file} is a copy of ${databaseSummary(where, copy)}\n`);
      // The copy is as good as what it was made of, and is kept.
      if (printBroken(copy)) process.exitCode = 1;
    });
}

export function restoreCommand(): Command {
  return databaseCommand("restore")
    .description("Put a copy in the place of the embedded database. The receiver must be stopped.")
    .argument("<file>", "what `oncehook backup` wrote")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = loadDatabaseLocation(options);
      const { keptAs, copy } = await restore(where, file);
      const kept =
        keptAs === undefined ? "" : `What was there is kept as ${keptAs}; to go back, restore that.\n`;
      process.stdout.write(
        `${file} was put in place: ${databaseSummary(where, copy)}\n${kept}` +
          "Have the platform send again what it sent since that copy was made: what the copy knows is answered already_processed.\n",
      );
      printBroken(copy);
    });
}

function printBroken(copy: IntegrityReport): boolean {
  const broken = brokenInvariants(copy);
  if (broken.length > 0)
    process.stdout.write(`${[...broken.map(invariantLine), verifySummary(copy)].join("\n")}\n`);
  return broken.length > 0;
}

export function migrateCommand(): Command {
  return configurationCommand("migrate")
    .description("Bring the database's schema up to date and exit. `serve` does the same at its start.")
    .option(
      "--accept-new-key",
      "take ENCRYPTION_KEY although the database was used with another key, which is lost",
    )
    .option(...JSON_OPTION)
    .action(async (options: ConfigurationOptions & JsonOptions & { acceptNewKey?: true }) => {
      const { config, handlers, migrations } = await loadConfiguration(options);
      const acceptNewKey = options.acceptNewKey ?? false;
      const { applied } = await migrate(config, handlers, migrations, { acceptNewKey });
      const done = applied.map((name) => `applied ${name}\n`).join("");
      printResult(options, { applied }, () => (done === "" ? "the database is up to date\n" : done));
    });
}

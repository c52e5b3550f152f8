import type { Command } from "commander";
import { migrate } from "../app/index.ts";
import type { Handler } from "../handlers/index.ts";
import { type ConfigurationOptions, configuredCommand } from "./configured-command.ts";
import { JSON_OPTION, type JsonOptions, printResult } from "./json-output.ts";
import { load } from "./load.ts";

export function migrateCommand(): Command {
  return configuredCommand("migrate")
    .description("Bring the database's schema up to date and exit. `serve` does the same at its start.")
    .option(
      "--accept-new-key",
      "take ENCRYPTION_KEY although the database was used with another key, which is lost",
    )
    .option(...JSON_OPTION)
    .action(async (options: ConfigurationOptions & JsonOptions & { acceptNewKey?: true }) => {
      const { config, file } = await load(options);
      const handlers = (file.handlers ?? []) as readonly Handler[];
      const { applied } = await migrate(config, handlers, file.migrations ?? [], {
        acceptNewKey: options.acceptNewKey ?? false,
      });
      const done = applied.map((name) => `applied ${name}\n`).join("");
      printResult(options, { applied }, () => (done === "" ? "the database is up to date\n" : done));
    });
}

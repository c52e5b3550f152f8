import { Command } from "commander";
import { migrate } from "../app/index.ts";
import type { Handler } from "../handlers/index.ts";
import { load } from "./load.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("Bring the database's schema up to date and exit. `serve` does the same at its start.")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option("--config <file>", "the configuration file (default: oncehook.config.ts, where there is one)")
    .option(
      "--accept-new-key",
      "take ENCRYPTION_KEY although the database was used with another key, which is lost",
    )
    .action(async (options: { env?: string; config?: string; acceptNewKey?: true }) => {
      const { config, file } = await load(options);
      const handlers = (file.handlers ?? []) as readonly Handler[];
      const { applied } = await migrate(config, handlers, file.migrations ?? [], {
        acceptNewKey: options.acceptNewKey ?? false,
      });
      const done = applied.map((name) => `applied ${name}\n`).join("");
      process.stdout.write(applied.length === 0 ? "the database is up to date\n" : done);
    });
}

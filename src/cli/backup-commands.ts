import type { Command } from "commander";
import { backup, restore } from "../app/index.ts";
import { type ConfigurationOptions, configuredCommand } from "./configured-command.ts";
import { load } from "./load.ts";
import { invariantLine } from "./verify-command.ts";

export function backupCommand(): Command {
  return configuredCommand("backup")
    .description("Copy the embedded database as it is at one instant, while the receiver serves.")
    .argument("<file>", "the copy; it must not exist")
    .action(async (file: string, options: ConfigurationOptions) => {
      const { config } = await load(options);
      const broken = await backup(config, file);
      process.stdout.write(`${file} is a copy of the database\n`);
      // The copy is as good as what it was made of, and is kept.
      for (const one of broken) process.stdout.write(`${invariantLine(one)}\n`);
      if (broken.length > 0) process.exitCode = 1;
    });
}

export function restoreCommand(): Command {
  return configuredCommand("restore")
    .description("Put a copy in the place of the embedded database. The receiver must be stopped.")
    .argument("<file>", "what `oncehook backup` wrote")
    .action(async (file: string, options: ConfigurationOptions) => {
      const { config } = await load(options);
      const { keptAs, broken } = await restore(config, file);
      const kept = keptAs === undefined ? "" : `; what was there is kept as ${keptAs}`;
      process.stdout.write(
        `the database is ${file} now${kept}\n` +
          "Have the platform send again what it sent since that copy was made: what the copy knows is answered already_processed.\n",
      );
      for (const one of broken) process.stdout.write(`${invariantLine(one)}\n`);
    });
}

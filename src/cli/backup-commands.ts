import type { Command } from "commander";
import { backup, restore } from "../app/index.ts";
import type { CheckedDatabase } from "../store/index.ts";
import { contentsLine, type DatabaseOptions, databaseCommand, loadWhere } from "./database-command.ts";
import { brokenOf, invariantLine, verdict } from "./verify-command.ts";

export function backupCommand(): Command {
  return databaseCommand("backup")
    .description(
      "Copy the embedded database as it is at one instant, while the receiver serves. Exit code 1 also when the copy is made, and the database does not add up.",
    )
    .argument("<file>", "the copy; it must not exist")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = loadWhere(options);
      const copy = await backup(where, file);
      process.stdout.write(`${file} is a copy of ${contentsLine(where, copy)}\n`);
      // The copy is as good as what it was made of, and is kept.
      if (tellBroken(copy)) process.exitCode = 1;
    });
}

export function restoreCommand(): Command {
  return databaseCommand("restore")
    .description("Put a copy in the place of the embedded database. The receiver must be stopped.")
    .argument("<file>", "what `oncehook backup` wrote")
    .action(async (file: string, options: DatabaseOptions) => {
      const where = loadWhere(options);
      const { keptAs, copy } = await restore(where, file);
      const kept =
        keptAs === undefined ? "" : `What was there is kept as ${keptAs}; to go back, restore that.\n`;
      process.stdout.write(
        `${file} was put in place: ${contentsLine(where, copy)}\n${kept}` +
          "Have the platform send again what it sent since that copy was made: what the copy knows is answered already_processed.\n",
      );
      tellBroken(copy);
    });
}

function tellBroken(copy: CheckedDatabase): boolean {
  const broken = brokenOf(copy);
  if (broken.length > 0)
    process.stdout.write(`${[...broken.map(invariantLine), verdict(copy)].join("\n")}\n`);
  return broken.length > 0;
}

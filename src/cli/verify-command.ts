import { styleText } from "node:util";
import type { Command } from "commander";
import { checkDatabase, nameOf } from "../app/index.ts";
import type { CheckedDatabase, CheckedInvariant } from "../store/index.ts";
import { contentsLine, type DatabaseOptions, databaseCommand, loadWhere } from "./database-command.ts";
import { plainJson, withoutControls } from "./plain.ts";

interface VerifyOptions extends DatabaseOptions {
  readonly json?: true;
}

export function verifyCommand(): Command {
  return databaseCommand("verify")
    .description(
      "Hold the database against its own invariants, while it may be in use; it is only read. Exit code 1 when something does not add up.",
    )
    .argument("[file]", "an SQLite file, such as a backup, instead of DATABASE_URL")
    .option("--json", "print what was found as JSON, for scripts")
    .action(async (file: string | undefined, options: VerifyOptions) => {
      const where = loadWhere(options);
      const checked = await checkDatabase(where, file);
      const database = nameOf(where.database, file);
      const text =
        options.json === true
          ? plainJson({ database, ...checked }, 2)
          : [
              ...checked.invariants.map(invariantLine),
              contentsLine(where, checked, file),
              verdict(checked),
            ].join("\n");
      process.stdout.write(`${text}\n`);
      if (brokenOf(checked).length > 0) process.exitCode = 1;
    });
}

export function brokenOf({ invariants }: CheckedDatabase): readonly CheckedInvariant[] {
  return invariants.filter(({ broken }) => broken > 0);
}

/** The last line: how many hold, and where to read on. */
export function verdict(checked: CheckedDatabase): string {
  const broken = brokenOf(checked).length;
  const all = checked.invariants.length;
  if (broken === 0) return `all ${all} hold`;
  return `${broken} of ${all} do not hold; docs/reliability.md, "What verify finds", says what each means and what to do`;
}

/** One invariant, and what breaks it. */
export function invariantLine({ name, says, broken, examples }: CheckedInvariant): string {
  const line = `${name}: ${says}`;
  if (broken === 0) return `${styleText("green", "ok     ")} ${line}`;
  const more = broken > examples.length ? ", …" : "";
  // An event's id may hold anything.
  const named = withoutControls(examples.join(", "));
  return `${styleText("red", "FAILURE")} ${line}; ${broken} against it: ${named}${more}`;
}

import { styleText } from "node:util";
import { Command } from "commander";
import { checkInvariants } from "../app/index.ts";
import type { CheckedInvariant } from "../store/index.ts";
import { load } from "./load.ts";

export function verifyCommand(): Command {
  return new Command("verify")
    .description(
      "Hold the database against its own invariants, while it may be in use; it is only read. Exit code 1 when something does not add up.",
    )
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option("--config <file>", "the configuration file (default: oncehook.config.ts, where there is one)")
    .option("--json", "print what was found as JSON, for scripts")
    .action(async (options: { env?: string; config?: string; json?: true }) => {
      const { config } = await load(options);
      const invariants = await checkInvariants(config);
      const text =
        options.json === true
          ? JSON.stringify(invariants, null, 2)
          : invariants.map(invariantLine).join("\n");
      process.stdout.write(`${text}\n`);
      if (invariants.some(({ broken }) => broken > 0)) process.exitCode = 1;
    });
}

/** One invariant, and what breaks it. */
export function invariantLine({ says, broken, examples }: CheckedInvariant): string {
  if (broken === 0) return `${styleText("green", "true ")} ${says}`;
  const more = broken > examples.length ? ", …" : "";
  // An event's id may hold anything; a terminal is shown plain characters.
  const named = examples.join(", ").replace(/\p{Cc}/gu, "\u{FFFD}");
  return `${styleText("red", "FALSE")} ${says}: ${broken} do not: ${named}${more}`;
}

import { styleText } from "node:util";
import type { Command } from "commander";
import { checkInvariants } from "../app/index.ts";
import type { CheckedInvariant } from "../store/index.ts";
import { type ConfigurationOptions, configuredCommand } from "./configured-command.ts";
import { load } from "./load.ts";

export function verifyCommand(): Command {
  return configuredCommand("verify")
    .description(
      "Hold the database against its own invariants, while it may be in use; it is only read. Exit code 1 when something does not add up.",
    )
    .option("--json", "print what was found as JSON, for scripts")
    .action(async (options: ConfigurationOptions & { json?: true }) => {
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

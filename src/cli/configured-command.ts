import { Command } from "commander";

export interface ConfigurationOptions {
  readonly env?: string;
  readonly config?: string;
}

/** A command that reads the whole configuration, the file with the handlers too. */
export function configuredCommand(name: string): Command {
  return new Command(name)
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option("--config <file>", "the configuration file (default: oncehook.config.ts, where there is one)");
}

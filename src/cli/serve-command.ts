import type { Command } from "commander";
import { type ConfigurationOptions, configurationCommand } from "./load-configuration.ts";

export function serveCommand(): Command {
  return configurationCommand("serve")
    .description("Start the receiver: the public listener, the admin listener and the retry loop.")
    .action(async (options: ConfigurationOptions) => (await import("./serve.ts")).serve(options));
}

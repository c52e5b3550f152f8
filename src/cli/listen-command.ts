import { Command } from "commander";
import type { ListenOptions } from "./listen.ts";
import { ENV_OPTION } from "./load-configuration.ts";

export function listenCommand(): Command {
  return new Command("listen")
    .description("Forward a deployed development receiver's callbacks to this machine, byte for byte.")
    .requiredOption("--from <url>", "the CALLBACK_BASE_URL of the receiver, which runs with CAPTURE=on")
    .requiredOption(
      "--to <url>",
      "where to send them, such as http://localhost:3000/hook; without a path each keeps its own",
    )
    .option("--since <time>", "start with recent callbacks, such as 10m; up to 24h (default: new ones only)")
    .option("--state <file>", "store the position there, and resume from it")
    .option("--json", "print a JSON object for each callback, for scripts")
    .option(...ENV_OPTION)
    .addHelpText("after", "\nADMIN_TOKEN, in the environment, is the receiver's. Ctrl-C ends.")
    .action(async (options: ListenOptions) => (await import("./listen.ts")).listen(options));
}

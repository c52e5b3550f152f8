import { Command } from "commander";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { JSON_OPTION, type JsonOptions, printResult } from "./json-output.ts";
import { wholeNumber } from "./whole-number.ts";

interface StateOptions extends AdminOptions, JsonOptions {
  readonly expiresIn: number;
}

export function oauthCommand(): Command {
  const state = new Command("state")
    .description("Tell the running receiver to expect a state of a flow that the platform starts itself.")
    .argument("<state>", "the state that the redirect will bring back, at least 16 characters")
    .option("--expires-in <seconds>", "how long it is expected, up to a day", wholeNumber(1, 86_400), 600)
    .option(
      "--admin-port <port>",
      "where the receiver's admin listener is (default: ADMIN_PORT)",
      wholeNumber(1, 65_535),
    )
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .option(...JSON_OPTION)
    .action(expectState);
  return new Command("oauth").description("OAuth flows.").addCommand(state);
}

async function expectState(state: string, options: StateOptions): Promise<void> {
  const answer = await askAdmin(options, ({ oauth }) =>
    oauth.expectState({ state, expires_in: options.expiresIn }),
  );
  printResult(options, answer, () => `the state is expected until ${answer.expires_at}\n`);
}

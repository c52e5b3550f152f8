import { Command } from "commander";
import { type AdminOptions, adminCommand, callAdmin } from "./call-admin.ts";
import { wholeNumber } from "./option-parsers.ts";
import { type JsonOptions, printResult } from "./output.ts";

interface StateOptions extends AdminOptions, JsonOptions {
  readonly expiresIn: number;
}

export function oauthCommand(): Command {
  const state = adminCommand("state")
    .description("Register the state of an OAuth flow that the platform starts.")
    .argument("<state>", "the state that the redirect will bring back, at least 16 characters")
    .option("--expires-in <seconds>", "how long it is expected, up to a day", wholeNumber(1, 86_400), 600)
    .action(expectState);
  return new Command("oauth").description("OAuth flows.").addCommand(state);
}

async function expectState(state: string, options: StateOptions): Promise<void> {
  const answer = await callAdmin(options, ({ oauth }) =>
    oauth.expectState({ state, expires_in: options.expiresIn }),
  );
  printResult(options, answer, () => `the state is expected until ${answer.expires_at}\n`);
}

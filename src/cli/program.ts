import { Command, Option } from "commander";
import type { AdminClient } from "../admin-client/index.ts";
import { alertsCommand } from "./alerts-command.ts";
import { backfillCommand } from "./backfill-command.ts";
import { type AdminOptions, adminCommand, printAnswer, wholeNumber } from "./call-admin.ts";
import { backupCommand, copyCommand, migrateCommand, restoreCommand, verifyCommand } from "./database-commands.ts";
import { doctorCommand } from "./doctor-command.ts";
import { fixtureCommand } from "./fixture-command.ts";
import { importSeenCommand } from "./import-seen-command.ts";
import { listenCommand } from "./listen.ts";
import { eventCommand, eventsCommand, failuresCommand } from "./look-up-commands.ts";
import { notificationsCommand } from "./notifications-command.ts";
import { VERSION } from "./package-manifest.ts";
import { problemsCommand } from "./problems-command.ts";
import { PROJECT_KINDS, type ProjectKind } from "./project-kinds.ts";
import { reconcileCommand } from "./reconcile-command.ts";
import { discardCommand, replayCommand } from "./replay-commands.ts";
import { sendCommand } from "./send-commands.ts";
import { serveCommand } from "./serve-command.ts";
import { signCommand } from "./sign-command.ts";
import { sourcesCommand } from "./sources-command.ts";
import { tailCommand } from "./tail-command.ts";

const EXIT_CODES = `
Exit codes: 0 success, 1 failure (the message gives cause and remedy), 2 invalid usage.
Configuration comes from the environment and from oncehook.config.ts; docs/configuration.md lists the variables.`;

export function createProgram(): Command {
  const program = new Command("oncehook")
    .description("Receives callbacks from platforms and handles each event exactly once.")
    .version(VERSION)
    .showHelpAfterError("(add --help for the options)")
    .addHelpText("after", EXIT_CODES)
    .exitOverride();
  for (const command of [
    initCommand(),
    serveCommand(),
    sendCommand(),
    signCommand(),
    listenCommand(),
    fixtureCommand(),
    oauthCommand(),
    eventsCommand(),
    eventCommand(),
    problemsCommand(),
    failuresCommand(),
    replayCommand(),
    discardCommand(),
    reconcileCommand(),
    backfillCommand(),
    importSeenCommand(),
    notificationsCommand(),
    alertsCommand(),
    tailCommand(),
    sourcesCommand(),
    migrateCommand(),
    verifyCommand(),
    backupCommand(),
    restoreCommand(),
    copyCommand(),
    doctorCommand(),
    demoCommand(),
  ])
    program.addCommand(withSettings(command, program));
  return program;
}

function oauthCommand(): Command {
  const state = adminCommand("state")
    .description("Register the state of an OAuth flow that the platform starts.")
    .argument("<state>", "the state that the redirect will bring back, at least 16 characters")
    .option("--expires-in <seconds>", "how long it is expected, up to a day", wholeNumber(1, 86_400), 600)
    .action(async (state: string, options: AdminOptions & { readonly expiresIn: number }) => {
      const ask = ({ oauth }: AdminClient) => oauth.expectState({ state, expires_in: options.expiresIn });
      await printAnswer(options, ask, ({ expires_at }) => `the state is expected until ${expires_at}\n`);
    });
  return new Command("oauth").description("OAuth flows.").addCommand(state);
}

function initCommand(): Command {
  return new Command("init")
    .description("Write the first files of a project. Nothing is written over.")
    .argument("[folder]", "the project's folder, made where there is none", ".")
    .addOption(new Option("--for <kind>", "what calls the receiver (asked at a terminal)").choices(PROJECT_KINDS))
    .action(async (folder: string, { for: kind }: { readonly for?: ProjectKind }) =>
      (await import("./init.ts")).init(folder, { kind }),
    );
}

function demoCommand(): Command {
  return new Command("demo")
    .description("Send valid and invalid callbacks to a receiver on a temporary database.")
    .action(async () => (await import("./demo.ts")).demo());
}

/** Commands below a command too: otherwise they would end the process themselves, with 1 for a wrong option. */
function withSettings(command: Command, above: Command): Command {
  command.copyInheritedSettings(above);
  for (const below of command.commands) withSettings(below, command);
  return command;
}

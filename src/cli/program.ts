import { Command, Option } from "commander";
import type { AdminClient } from "../admin-client/index.ts";
import { alertsCommand } from "./alerts-command.ts";
import { backfillCommand, backfillsCommand } from "./backfill-command.ts";
import { bulkReplaysCommand } from "./bulk-replays-command.ts";
import { type AdminOptions, adminCommand, printAnswer, wholeNumber } from "./call-admin.ts";
import { backupCommand, copyCommand, migrateCommand, restoreCommand, verifyCommand } from "./database-commands.ts";
import { doctorCommand } from "./doctor-command.ts";
import { eraseCommand } from "./erase-command.ts";
import { findCommand } from "./find-command.ts";
import { fixtureCommand } from "./fixture-command.ts";
import { importSeenCommand } from "./import-seen-command.ts";
import { listenCommand } from "./listen-command.ts";
import { eventCommand, eventsCommand, failuresCommand } from "./look-up-commands.ts";
import { notificationsCommand } from "./notifications-command.ts";
import { VERSION } from "./package-manifest.ts";
import { problemsCommand } from "./problems-command.ts";
import { PROJECT_KINDS, type ProjectKind } from "./project-kinds.ts";
import { reconcileCommand } from "./reconcile-command.ts";
import { discardCommand, replayCommand } from "./replay-commands.ts";
import { sendCommand } from "./send-commands.ts";
import { serveCommand } from "./serve-command.ts";
import { showCommand } from "./show-command.ts";
import { signCommand } from "./sign-command.ts";
import { sourcesCommand } from "./sources-command.ts";
import { statusCommand } from "./status-command.ts";
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
    .addHelpCommand(
      new Command("help").argument("[command]").description("Display help for a command.").helpGroup("Run:"),
    )
    .exitOverride();
  for (const [heading, commands] of Object.entries(groups()))
    for (const command of commands) program.addCommand(withSettings(command.helpGroup(`${heading}:`), program));
  return program;
}

/** The commands under the headings of `--help`. */
function groups(): Readonly<Record<string, readonly Command[]>> {
  return {
    Run: [initCommand(), serveCommand(), doctorCommand(), sourcesCommand(), oauthCommand()],
    Look: [
      statusCommand(),
      findCommand(),
      showCommand(),
      problemsCommand(),
      tailCommand(),
      eventsCommand(),
      eventCommand(),
      failuresCommand(),
      alertsCommand(),
      notificationsCommand(),
      bulkReplaysCommand(),
      backfillsCommand(),
    ],
    Mend: [
      replayCommand(),
      discardCommand(),
      eraseCommand(),
      reconcileCommand(),
      backfillCommand(),
      importSeenCommand(),
    ],
    Database: [migrateCommand(), verifyCommand(), backupCommand(), restoreCommand(), copyCommand()],
    Develop: [sendCommand(), signCommand(), listenCommand(), fixtureCommand(), demoCommand()],
  };
}

/** Words of other tools, and of the page, for some commands. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ callbacks: "tail", logs: "tail", log: "tail", activity: "tail", watch: "tail" },
  ...{ start: "serve", run: "serve", check: "doctor", config: "doctor" },
  ...{ retry: "replay", resend: "replay", rerun: "replay", delete: "discard" },
  ...{ trigger: "send", forward: "listen", new: "init", create: "init" },
  ...{ mute: "alerts mute", endpoints: "sources", webhooks: "sources", deliveries: "notifications" },
  ...{ search: "find", issues: "problems", get: "show" },
};

/** The command that a word means that is none; undefined where only the spelling can tell. */
export function meantCommand(word: string, program: Command): string | undefined {
  const isCommand = (name: string) => program.commands.some((command) => command.name() === name);
  const meant = SYNONYMS[word];
  return meant !== undefined && !isCommand(word) && isCommand(meant.split(" ")[0] ?? "") ? meant : undefined;
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
  // Else a command takes the options of one below it, wherever they stand, and that one works without them.
  if (command.commands.length > 0) command.enablePositionalOptions().hook("preAction", passOptions);
  return command;
}

/** Options between the names of a command and of one below it are for the latter. */
function passOptions(command: Command, below: Command): void {
  if (command === below) return;
  for (const { long } of command.options) {
    const name = new Option(long ?? "").attributeName();
    const isTyped = (one: Command) => one.getOptionValueSource(name) === "cli";
    if (!isTyped(command)) continue;
    if (!below.options.some((option) => option.long === long))
      below.error(`error: ${long} is no option of ${below.name()}; ${command.name()} has it`);
    if (!isTyped(below)) below.setOptionValueWithSource(name, command.getOptionValue(name), "cli");
  }
}

import { CommanderError } from "commander";
import type { ConfigError } from "../config/index.ts";
import { errorReason, rootCause } from "../domain/index.ts";
import { escapeLines } from "./output.ts";
import { createProgram, meantCommand } from "./program.ts";
import { isProject } from "./status-command.ts";
import { UsageError } from "./user-error.ts";

/** Runs the command line. @returns the exit code; a command that prints why it did not work sets it itself */
export async function run(argv: readonly string[]): Promise<NodeJS.Process["exitCode"]> {
  try {
    const program = createProgram();
    const [word = (await isProject(process.env, process.cwd())) ? "status" : "--help", ...rest] = argv.slice(2);
    const meant = meantCommand(word, program);
    if (meant !== undefined) throw new UsageError(`unknown command ${word}. Did you mean ${meant}?`);
    await program.parseAsync([word, ...rest], { from: "user" });
    return process.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`oncehook: ${escapeLines(messageOf(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The codes of a system that refuses something plain, such as a port that is taken. */
const SYSTEM_ERROR = /^(EADDRINUSE|EACCES|EADDRNOTAVAIL|ENOENT|ECONNREFUSED|ENOTFOUND|EPERM)$/;

/** Their messages are for the user. Names, as some commands load the classes of theirs on demand. */
const USER_ERRORS = /^(CannotSignError|Disconnected|MaintenanceError|MigrationError|StartError|UsageError|UserError)$/;

/** By its name: its class would load the configuration for each command. */
const isConfigError = (error: unknown): error is ConfigError => error instanceof Error && error.name === "ConfigError";

/** The reason of a command's failure. A stack is for our faults, not for a user's mistake. */
function messageOf(error: unknown): string {
  if (isConfigError(error)) return `the configuration is not valid\n  ${error.problems.join("\n  ")}`;
  if (!(error instanceof Error)) return String(error);
  if (USER_ERRORS.test(error.name)) return error.message;
  const cause = rootCause(error);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (!SYSTEM_ERROR.test(code)) return error.stack ?? error.message;
  return cause === error ? error.message : `${error.message} (${errorReason(cause)})`;
}

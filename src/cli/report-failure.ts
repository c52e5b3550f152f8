import { CommanderError } from "commander";
import { StartRefused } from "../app/index.ts";
import { ConfigError } from "../config/index.ts";
import { CareRefused, MigrationRefused } from "../store/index.ts";
import { plainLines } from "./plain.ts";
import { UsageMistake, UserMistake } from "./user-mistake.ts";

/** The codes of a system that refuses something plain, such as a port that is taken. */
const PLAIN_CODES = new Set([
  "EADDRINUSE",
  "EACCES",
  "EADDRNOTAVAIL",
  "ENOENT",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EPERM",
]);

/** What they say is for the user. */
const PLAIN_ERRORS = [CareRefused, MigrationRefused, StartRefused, UserMistake];

/** Prints why a command did not work and returns the exit code. A stack is for our faults, not for a user's mistake. */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  process.stderr.write(`oncehook: ${plainLines(messageOf(error))}\n`);
  return error instanceof UsageMistake ? 2 : 1;
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigError) return `the configuration is not valid\n  ${error.problems.join("\n  ")}`;
  if (PLAIN_ERRORS.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof Error) {
    const cause = rootCause(error);
    const code = "code" in cause ? String(cause.code) : "";
    if (!PLAIN_CODES.has(code)) return error.stack ?? error.message;
    return cause === error ? error.message : `${error.message} (${cause.message})`;
  }
  return String(error);
}

function rootCause(error: Error): Error {
  return error.cause instanceof Error ? rootCause(error.cause) : error;
}

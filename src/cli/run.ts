import { createProgram } from "./program.ts";
import { reportFailure } from "./report-failure.ts";

/** Runs the command line. @returns the exit code; a command that prints why it did not work sets it itself */
export async function run(argv: readonly string[]): Promise<NodeJS.Process["exitCode"]> {
  try {
    await createProgram().parseAsync(argv);
    return process.exitCode;
  } catch (error) {
    return reportFailure(error);
  }
}

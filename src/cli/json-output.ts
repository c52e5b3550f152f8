import { plainJson, plainLines } from "./plain.ts";

/** What every command that takes `--json` says of it. */
export const JSON_OPTION = ["--json", "print the result as JSON, for scripts"] as const;

export interface JsonOptions {
  readonly json?: true;
}

/** Prints a result: as JSON where that was asked for, otherwise in words. */
export function printResult({ json }: JsonOptions, result: unknown, words: () => string): void {
  process.stdout.write(json === true ? `${plainJson(result, 2)}\n` : plainLines(words()));
}

import { readFileSync } from "node:fs";
import { durationMs, fileErrorText } from "../domain/index.ts";

/** Something the user can put right; the message says how, and no stack is shown. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** An option or argument that is not understood: nothing was started, and the exit code is 2. */
export class UsageError extends UserError {
  override readonly name = "UsageError";
}

/** @param subject what the error's message begins with, such as `--env: got "x", which` @throws UserError */
export function readInput(file: string, subject: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new UserError(`${subject} ${fileErrorText(cause)}`, { cause });
  }
}

export function unexpected(option: string, got: string, expected: string): UsageError {
  return new UsageError(`${option}: got ${JSON.stringify(got)}, expected ${expected}`);
}

export function httpUrl(option: string, text: string, example: string): URL {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "") return url;
  throw unexpected(option, text, `an http(s) address such as ${example}`);
}

/** @returns milliseconds @throws UsageError for a text that is no time, or a longer one than `mostMs` */
export function timeSpan(option: string, text: string, expected: string, mostMs = Infinity): number {
  const ms = durationMs(text);
  if (ms <= mostMs) return ms;
  throw unexpected(option, text, `a time ${expected}`);
}

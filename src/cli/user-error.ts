import { readFileSync } from "node:fs";
import { fileErrorText } from "../domain/index.ts";

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

export function httpUrl(option: string, text: string, example: string): URL {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "") return url;
  throw new UsageError(
    `${option}: got ${JSON.stringify(text)}, expected an http(s) address such as ${example}`,
  );
}

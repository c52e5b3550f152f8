import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { fileTrouble } from "../../domain/index.ts";
import { UserMistake } from "../user-mistake.ts";

/** Where a run has come to, for the next one to go on. */
export interface StateFile {
  readonly place: string | undefined;
  note(place: string): void;
}

const STATE = z.object({ from: z.string(), place: z.string() });

/** @throws UserMistake where the file cannot be used, or is of another receiver */
export function stateFile(path: string, from: URL): StateFile {
  return {
    place: read(path, from.href),
    note(place) {
      // Whole or not at all, also when this process is killed meanwhile.
      const written = `${path}.${process.pid}`;
      try {
        writeFileSync(written, `${JSON.stringify({ from: from.href, place })}\n`, { mode: 0o600 });
        renameSync(written, path);
      } catch (cause) {
        throw new UserMistake(`--state: "${path}" cannot be written: ${(cause as Error).message}`, { cause });
      }
    },
  };
}

function read(path: string, from: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UserMistake(`--state: got "${path}", which ${fileTrouble(cause)}`, { cause });
  }
  const state = STATE.safeParse(parse(text));
  if (!state.success)
    throw new UserMistake(`--state: "${path}" is not what this command writes; name another file`);
  if (state.data.from === from) return state.data.place;
  throw new UserMistake(`--state: "${path}" is of ${state.data.from}, not of --from; name another file`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

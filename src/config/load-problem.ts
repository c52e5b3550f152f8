import { fileURLToPath, pathToFileURL } from "node:url";

const POSITION = /^(?::\d+){1,2}/;
/** How Node's parser begins the stack of a file that it cannot read. */
const PARSED = /^(file:\S+?)(:\d+)$/m;

/** Why a configuration file could not be loaded, with the line that is at fault where the stack tells it. */
export function loadProblem(file: string, cause: unknown): string {
  if (!(cause instanceof Error)) return `${file}: cannot be loaded: ${String(cause)}`;
  return `${file}${positionIn(file, cause.stack ?? "")}: cannot be loaded: ${cause.message}`;
}

function positionIn(file: string, stack: string): string {
  const [, ...mentions] = stack.split(pathToFileURL(file).href);
  for (const rest of mentions) {
    const [position] = POSITION.exec(rest) ?? [];
    if (position !== undefined) return position;
  }
  const [, imported, line] = PARSED.exec(stack) ?? [];
  return imported === undefined ? "" : ` (it imports ${fileURLToPath(imported)}${line})`;
}

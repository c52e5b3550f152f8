import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const POSITION = /^(?::\d+){1,2}/;
/** How Node's parser begins the stack of a file that it cannot read. */
const PARSED = /^(file:\S+?)(:\d+)$/m;

/** Why a configuration file could not be loaded, with the line that is at fault where the stack tells it. */
export function loadProblem(file: string, cause: unknown): string {
  if (!(cause instanceof Error)) return `${file}: cannot be loaded: ${String(cause)}`;
  const position = positionIn(file, cause.stack ?? "") || positionIn(file, checked(file, cause));
  return `${file}${position}: cannot be loaded: ${cause.message}${meantFile(cause)}`;
}

const ENDINGS = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];

/** Node completes no path, and compiles no `x.ts` for an import of `x.js`: the file that was meant, where it is there. */
function meantFile(cause: Error): string {
  if (
    !("code" in cause) ||
    !["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT"].includes(String(cause.code))
  )
    return "";
  if (!("url" in cause) || !String(cause.url).startsWith("file:")) return "";
  const path = fileURLToPath(String(cause.url));
  const bare = path.replace(/(?:\/|\.m?js)$/, "");
  const meant = ENDINGS.map((ending) => `${bare}${ending}`).find((file) => existsSync(file));
  return meant === undefined ? "" : `. There is ${meant}: an import names the whole file, with its ending`;
}

/** Of plain JavaScript that it cannot read Node tells no line when it imports it; when asked to check it, it does. */
function checked(file: string, cause: Error): string {
  if (!(cause instanceof SyntaxError)) return "";
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
  return stderr.replace(file, () => pathToFileURL(file).href);
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

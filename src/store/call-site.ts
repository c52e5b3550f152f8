import { fileURLToPath } from "node:url";
import { besideModule } from "../system/index.ts";

/** A handler's line is wanted below the frames of Oncehook and of the query builder, which are up to fifteen. */
const FRAMES = 40;
const FRAME = "    at ";
const OWN = besideModule("..", import.meta.url);
const NOT_A_HANDLERS = [OWN.href, fileURLToPath(OWN), "(node:", "at node:", "(<anonymous>)"];
const BUILT_IN_HANDLERS = "/handlers/built-in/";
const DRIVERS = /node_modules[\\/](?:kysely|pg|pg-[a-z]+)[\\/]/;

let areKept = false;

/** Notes for every call through `tx` where the handler made it: for tests, since it takes microseconds of each call. */
export function keepCallSites(): void {
  areKept = true;
}

/** The caller of the present code; its text is made when `handlersFrames` reads it. */
export interface CallSite {
  readonly stack?: string;
}

/** @param isWanted also without `keepCallSites` */
export function callSite(isWanted: boolean): CallSite | undefined {
  return isWanted || areKept ? callSiteNow() : undefined;
}

/** The same at any time: for paths that end in an error. Behind an `await` it has the functions that wait for this one. */
export function callSiteNow(): CallSite {
  const { stackTraceLimit } = Error;
  const site = {};
  Error.stackTraceLimit = FRAMES;
  Error.captureStackTrace(site, callSiteNow);
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

/** The same error with the handler's frames in its stack, where it has none of them. */
export function showCallSite(error: unknown, site: CallSite | undefined): void {
  if (!(error instanceof Error) || site === undefined) return;
  try {
    const { stack } = error;
    if (typeof stack !== "string" || handlersFrames(stack) !== "") return;
    const frames = handlersFrames(site.stack);
    if (frames !== "") error.stack = `${stack}\n${frames}`;
  } catch {
    // An error that cannot be read or changed is shown as it is.
  }
}

/** The text of an error with only the handler's frames; as it is where it has none of them. */
export function withHandlersFrames(text: string): string {
  if (handlersFrames(text) === "") return text;
  return text
    .split("\n")
    .filter((line) => !line.startsWith(FRAME) || isHandlers(line))
    .join("\n");
}

/** The frames of a stack that are neither Oncehook's, nor the query builder's, nor a driver's. */
export function handlersFrames(stack = ""): string {
  return stack.split("\n").filter(isHandlers).join("\n");
}

function isHandlers(line: string): boolean {
  if (!line.startsWith(FRAME)) return false;
  if (line.includes(BUILT_IN_HANDLERS)) return true;
  return !(DRIVERS.test(line) || NOT_A_HANDLERS.some((part) => line.includes(part)));
}

import { type Clock, createWindowLimit } from "./clock.ts";
import { MINUTE_MS } from "./duration.ts";
import { getOrMake } from "./made-once.ts";

/** The part of a pino logger that the inner rooms and handlers use. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface Entry {
  readonly fields: { readonly err?: unknown; readonly [name: string]: unknown };
  readonly message: string;
  /** Separates causes further, such as by route; from a fixed set, never a caller's text. */
  readonly cause?: string;
}

/** Writes errors that any request can cause. */
export type SparingLog = (level: "warn" | "error", entry: Entry) => void;

/** Codes and names of errors are few; past this many, the rest counts as one cause. */
const MAX_CAUSES = 100;

/** Writes one line a minute for each message and cause (the error's code or name). The next says how many it left out. */
export function createSparingLog(log: Log, clock: Clock): SparingLog {
  const causes = new Map<string, { readonly mayWrite: (now: Date) => boolean; leftOut: number }>();
  return (level, { fields, message, cause = "" }) => {
    const fullKey = `${message}\n${cause}\n${errorCode(fields.err)}`;
    const key = causes.has(fullKey) || causes.size < MAX_CAUSES ? fullKey : "";
    const counter = getOrMake(causes, key, () => ({ mayWrite: createWindowLimit(1, MINUTE_MS), leftOut: 0 }));
    if (!counter.mayWrite(clock.now())) {
      counter.leftOut += 1;
      return;
    }
    const { leftOut } = counter;
    counter.leftOut = 0;
    log[level](leftOut === 0 ? fields : { ...fields, left_out_before: leftOut }, message);
  };
}

/** The system's word for an error, such as ECONNREFUSED, or its name. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

import type { Log } from "../../src/domain/index.ts";

export interface Line {
  readonly level: keyof Log;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A log that keeps its lines for a test to read. */
export function recordedLog(): Log & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: keyof Log) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

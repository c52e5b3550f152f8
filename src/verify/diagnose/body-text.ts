import type { Effort } from "./effort.ts";
import { type Broken, type ReadJson, readJson } from "./json-text.ts";

/** A body as a text, with what it costs to look into it. */
export interface BodyText {
  readonly text: string;
  readonly effort: Effort;
  /** Its JSON, which is read once, in steps. */
  read(): Generator<undefined, ReadJson | Broken>;
}

export function bodyTextOf(body: Uint8Array, effort: Effort): BodyText {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  let read: ReadJson | Broken | undefined;
  return {
    text,
    effort,
    *read() {
      read ??= yield* readJson(text, effort);
      return read;
    },
  };
}

/** One line of the stream that `oncehook listen` reads (NDJSON). Readers skip the lines they do not know. */
export type HeardLine =
  /** The first line: from where on requests follow. */
  | { readonly line: "hello"; readonly at: string; readonly database: "same" | "another" | "older" }
  | RequestLine
  /** One request that is kept cannot be read: it was encrypted with a key that is not configured any more. */
  | { readonly line: "unreadable"; readonly at: string }
  /** Requests behind the reader's place were deleted before he came to them. */
  | { readonly line: "swept" }
  /** Nothing new, and still here. */
  | { readonly line: "heartbeat" };

export interface RequestLine {
  readonly line: "request";
  /** Where to go on after this one; for the receiver alone to understand. */
  readonly at: string;
  /** ISO 8601. */
  readonly received_at: string;
  readonly method: string;
  /** The request target as it was sent. */
  readonly url: string;
  /** Names and values in turn, as they were sent. */
  readonly headers: readonly string[];
  /** The body's bytes as base64. */
  readonly body: string;
}

/** A reader's place. */
export interface Place {
  readonly log: string;
  readonly id: number;
}

export function writePlace({ log, id }: Place): string {
  return `${log}.${id}`;
}

/** Undefined where the text is no place. */
export function readPlace(text: string): Place | undefined {
  const [, log, id] = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(text) ?? [];
  return log === undefined ? undefined : { log, id: Number(id) };
}

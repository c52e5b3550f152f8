import type { FaultCode } from "../domain/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";

/**
 * One HTTP request and its response, as plain values. That of a Node request is `NodeExchange` in `http/`, that of a
 * WHATWG `Request` is `FetchExchange` in `embed/`.
 */
export interface Exchange {
  readonly method: string;
  /** Path and query exactly as they were sent, since some platforms sign them. */
  readonly target: string;
  /** The path by which the address is found; that of `target` when left out. A framework may take its mount path off. */
  readonly path?: string;
  readonly httpVersion: string;
  /** By lower-case name; repeated ones are joined. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** With each value as it was sent. */
  readonly distinctHeaders: DistinctHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The client's, in the form of `normalAddress`; empty where it is not known, or the connection is gone already. */
  readonly address: string;
  readonly protocol: "http" | "https";
  /** Whether nothing else can hold the pieces of the body: then they are freed once they are copied. */
  readonly ownsPieces: boolean;
  /** Starts to read the body; called once at most. */
  readBody(reader: BodyReader): void;
  /** Leaves the rest of the body unread; the reader may still be called. */
  stopReading(): void;
  /** The fault whose response is written already: the request stopped being one while its body arrived. */
  writtenFault?(): FaultCode | undefined;
  /**
   * Bounds the responses to requests that are not authentic; only a listener has it.
   * @returns resolves when this one may be sent; undefined when it may be sent at once
   */
  waitUnverified?(): Promise<void> | undefined;
  /**
   * Responds, unless something has responded already or the client is gone.
   * @param body empty with status 204
   * @param lingers whether the rest of an unwanted body is read, within bounds, so that the client receives the response
   */
  respond(status: number, headers: ResponseHeaders, body: string, lingers: boolean): void;
  /** Responds 200 with texts as they come, until `over` or the client's end; only a listener has it. */
  stream?(
    headers: ResponseHeaders,
    texts: (over: AbortSignal) => AsyncIterable<string>,
    over: AbortSignal,
  ): Promise<void>;
  /** Ends the connection, with or without a response. */
  abort(): void;
}

export type ResponseHeaders = Record<string, string | string[]>;

export interface BodyReader {
  piece(bytes: Uint8Array): void;
  end(): void;
  /** The client is gone, or sent something else than a body. May also be called after `end`. */
  lost(): void;
  /** Something has read the body before: the bytes that are signed are gone. @param cause names it and the remedy */
  consumed(cause: Error): void;
}

/** The part of a target after its question mark; empty where it has none. */
export function queryOf(target: string): string {
  const mark = target.indexOf("?");
  return mark === -1 ? "" : target.slice(mark + 1);
}

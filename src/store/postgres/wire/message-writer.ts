import type { CustomTypesConfig } from "pg";

/** A value as it goes on the wire. An array is one of texts, and goes in the binary form of `text[]`. */
export type WireValue = string | number | Buffer | null | readonly (string | null)[];

export interface WireStatement {
  readonly text: string;
  readonly values?: readonly WireValue[];
  /** Whether the rows are returned as objects, each value of its column's type, as the driver's `query` does. */
  readonly isTyped?: boolean;
  /** How its columns are read; default: as for handlers. */
  readonly types?: CustomTypesConfig;
  /** A statement with a name is parsed once for each connection, other texts each time. */
  readonly name?: string;
}

const FIRST_BYTES = 16_384;
/** The memory of a larger trip is given back before the next one. */
const MAX_KEPT_BYTES = 524_288;
/** The most that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The object id of PostgreSQL's type `text` (`pg_type.dat`). */
const TEXT = 25;

const DESCRIBE_PORTAL = Buffer.from("D\0\0\0\x06P\0", "latin1");
const EXECUTE = Buffer.from("E\0\0\0\x09\0\0\0\0\0", "latin1");
const SYNC = Buffer.from("S\0\0\0\x04", "latin1");

/**
 * The messages of one round trip in one piece of memory (manual, 55.7). The driver has a piece for each, which it makes larger
 * in steps. With the rows of a group that was more garbage than all the rest of their callbacks.
 *
 * A connection has one, and writes the next trip when the last one was answered. Then nothing of it is still to be sent.
 */
export class MessageWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;

  /** Begins the next trip; what was written before is overwritten. */
  start(): void {
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#end = 0;
  }

  get written(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  /** Parses a text under a name that is free, or under none. */
  parse(text: string, name: string): void {
    const start = this.#begin("P");
    this.#zeroEnded(name);
    this.#zeroEnded(text);
    // The server finds the types of the parameters out.
    this.#int16(0);
    this.#finish(start);
  }

  /** To close a name that the server does not know is no error. */
  close(name: string): void {
    const start = this.#begin("C");
    this.#raw("S");
    this.#zeroEnded(name);
    this.#finish(start);
  }

  bind(name: string, values: readonly WireValue[]): void {
    const start = this.#begin("B");
    this.#zeroEnded("");
    this.#zeroEnded(name);
    this.#int16(values.length);
    for (const value of values) this.#int16(typeof value === "object" && value !== null ? 1 : 0);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    // All columns of the answer as texts.
    this.#int16(0);
    this.#finish(start);
  }

  describe(): void {
    this.#bytes(DESCRIBE_PORTAL);
  }

  execute(): void {
    this.#bytes(EXECUTE);
  }

  sync(): void {
    this.#bytes(SYNC);
  }

  #value(value: WireValue): void {
    if (value === null) return this.#int32(-1);
    const start = this.#end;
    this.#int32(0);
    if (typeof value === "string") this.#text(value);
    else if (typeof value === "number") this.#text(String(value));
    else if (Buffer.isBuffer(value)) this.#bytes(value);
    else this.#texts(value as readonly (string | null)[]);
    this.#buffer.writeInt32BE(this.#end - start - 4, start);
  }

  /** As `array_recv` reads it (src/backend/utils/adt/arrayfuncs.c). */
  #texts(values: readonly (string | null)[]): void {
    const dimensions = values.length === 0 ? 0 : 1;
    this.#int32(dimensions);
    this.#int32(values.includes(null) ? 1 : 0);
    this.#int32(TEXT);
    if (dimensions === 0) return;
    this.#int32(values.length);
    // The index of the first one.
    this.#int32(1);
    for (const value of values) this.#value(value);
  }

  /** @returns where its length goes */
  #begin(type: string): number {
    this.#raw(type);
    this.#int32(0);
    return this.#end - 4;
  }

  #finish(start: number): void {
    this.#buffer.writeInt32BE(this.#end - start, start);
  }

  #zeroEnded(text: string): void {
    this.#text(text);
    this.#raw("\0");
  }

  #text(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_UNIT);
    this.#end += this.#buffer.write(text, this.#end);
  }

  #raw(character: string): void {
    this.#reserve(1);
    this.#buffer[this.#end++] = character.charCodeAt(0);
  }

  #bytes(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#end += bytes.copy(this.#buffer, this.#end);
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#end = this.#buffer.writeUInt16BE(value, this.#end);
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#end = this.#buffer.writeInt32BE(value, this.#end);
  }

  #reserve(bytes: number): void {
    if (this.#buffer.length - this.#end >= bytes) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#end + bytes));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

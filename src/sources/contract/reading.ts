import { isJsonObject, isRefused, type JsonValue } from "../../domain/index.ts";
import type { SignedRequest, SignedText } from "../schemes/scheme.ts";
import type { DecodeBody, Decoded } from "./body-formats.ts";
import { parseQuery } from "./form.ts";
import { sha256Hex } from "./parse-body.ts";

/** What places are read from. Undefined for what is not there. */
export interface Readable {
  readonly body: JsonValue | undefined;
  /** Whether the body that came is one JSON text; false for an item. */
  readonly isJson?: boolean;
  /** An event of a batch, and the element that holds the array it stands in. */
  readonly item?: JsonValue | undefined;
  readonly parent?: JsonValue | undefined;
  /** @param name in lower case; @returns an array where the header is repeated */
  header(name: string): JsonValue | undefined;
  query(name: string): JsonValue | undefined;
  readonly remoteAddress?: string | undefined;
  /** Left out where only the body was signed, and for an item of a batch. */
  readonly signedText?: SignedText | undefined;
  /** Lowercase hex, of what was signed as `HashBytes` has it; of one item's text in a batch. */
  sha256(): string;
  /** Lowercase hex, of the body, or of one item's text in a batch. */
  bodySha256(): string;
  /** The address as the platform has registered it: never from `Host`, and without the query. */
  url(): string;
}

/** The type where it is the name of the property that holds what happened: the first one that is `named` so. */
export const propertyName =
  (named: (name: string) => boolean) =>
  ({ body }: Readable): string | undefined =>
    isJsonObject(body) ? Object.keys(body).find(named) : undefined;

/** Makes the key of events whose key is the hash of what was signed, lowercase hex. */
export type HashBytes = (reading: Readable) => string;

interface ReadingRules {
  readonly decode: DecodeBody;
  readonly origin: () => string;
  readonly hashBytes: HashBytes;
}

/** A request whose body and query are parsed when they are first asked for. */
export class CallbackReading implements Readable {
  readonly #request: SignedRequest;
  readonly #rules: ReadingRules;
  #decoded: Decoded | undefined;
  #query: Readonly<Record<string, JsonValue>> | undefined;
  readonly signedText: SignedText | undefined;
  #bodySha256: string | undefined;

  constructor(request: SignedRequest, rules: ReadingRules, signedText?: SignedText) {
    this.#request = request;
    this.#rules = rules;
    this.signedText = signedText;
  }

  get remoteAddress(): string | undefined {
    return this.#request.remoteAddress;
  }

  get decoded(): Decoded {
    this.#decoded ??= this.#rules.decode(this.#request);
    return this.#decoded;
  }

  get body(): JsonValue | undefined {
    return isRefused(this.decoded) ? undefined : this.decoded.value;
  }

  get isJson(): boolean {
    return !isRefused(this.decoded) && this.decoded.isJson === true;
  }

  header(name: string): JsonValue | undefined {
    const { headers } = this.#request;
    const values = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return values === undefined || values.length > 1 ? values?.slice() : values[0];
  }

  query(name: string): JsonValue | undefined {
    this.#query ??= parseQuery(this.#request.target);
    return Object.hasOwn(this.#query, name) ? this.#query[name] : undefined;
  }

  sha256(): string {
    return this.#rules.hashBytes(this);
  }

  bodySha256(): string {
    this.#bodySha256 ??= sha256Hex(this.#request.body);
    return this.#bodySha256;
  }

  url(): string {
    return this.#rules.origin() + (this.#request.target.split("?", 1)[0] ?? "");
  }
}

/** One event of a batch. */
export class ItemReading implements Readable {
  readonly item: JsonValue;
  readonly parent: JsonValue | undefined;
  readonly #callback: Readable;
  readonly #hashBytes: HashBytes;
  #bodySha256: string | undefined;

  constructor(
    callback: Readable,
    { item, parent }: { item: JsonValue; parent?: JsonValue | undefined },
    hashBytes: HashBytes,
  ) {
    this.#callback = callback;
    this.#hashBytes = hashBytes;
    this.item = item;
    this.parent = parent;
  }

  get body(): JsonValue | undefined {
    return this.#callback.body;
  }

  header(name: string): JsonValue | undefined {
    return this.#callback.header(name);
  }

  query(name: string): JsonValue | undefined {
    return this.#callback.query(name);
  }

  sha256(): string {
    return this.#hashBytes(this);
  }

  bodySha256(): string {
    this.#bodySha256 ??= sha256Hex(Buffer.from(JSON.stringify(this.item)));
    return this.#bodySha256;
  }

  url(): string {
    return this.#callback.url();
  }
}

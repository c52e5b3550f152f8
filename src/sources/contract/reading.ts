import { randomUUID } from "node:crypto";
import { isJsonObject, isRefused, type JsonValue } from "../../domain/index.ts";
import type { DecodeBody, Decoded } from "../formats/body-formats.ts";
import { parseQuery } from "../formats/form.ts";
import { sha256Hex } from "../formats/parse-body.ts";
import type { SignedRequest, SignedText } from "../request.ts";

/** The source of places: each method returns undefined for an absent one. */
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
  readonly receivedAt?: Date | undefined;
  /** Left out where only the body was signed, and for an item of a batch. */
  readonly signedText?: SignedText | undefined;
  /** Lowercase hex, of what was signed as `HashBytes` has it; of one item's text in a batch. */
  sha256(): string;
  /** Lowercase hex, of the body, or of one item's text in a batch. */
  bodySha256(): string;
  /** The address as the platform has registered it: never from `Host`, and without the query. */
  url(): string;
  /** A key that no other delivery has. A kept request has it again. @param itemSha256 of a batch */
  delivery(itemSha256?: string): string;
}

/** The type where a property's name says it: the first property that is `named` so. */
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
  readonly request: SignedRequest;
  readonly rules: ReadingRules;
  #decoded: Decoded | undefined;
  #query: Readonly<Record<string, JsonValue>> | undefined;
  readonly signedText: SignedText | undefined;
  readonly remoteAddress: string | undefined;
  readonly receivedAt: Date | undefined;
  #bodySha256: string | undefined;
  #deliveryId: string | undefined;
  #equalItems: Map<string, number> | undefined;

  constructor(request: SignedRequest, rules: ReadingRules, signedText?: SignedText) {
    this.request = request;
    this.rules = rules;
    this.signedText = signedText;
    this.remoteAddress = request.remoteAddress;
    this.receivedAt = request.receivedAt;
  }

  get decoded(): Decoded {
    this.#decoded ??= this.rules.decode(this.request);
    return this.#decoded;
  }

  get body(): JsonValue | undefined {
    return isRefused(this.decoded) ? undefined : this.decoded.value;
  }

  get isJson(): boolean {
    return !isRefused(this.decoded) && this.decoded.isJson === true;
  }

  header(name: string): JsonValue | undefined {
    const { headers } = this.request;
    const values = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return values === undefined || values.length > 1 ? values?.slice() : values[0];
  }

  query(name: string): JsonValue | undefined {
    this.#query ??= parseQuery(this.request.target);
    return Object.hasOwn(this.#query, name) ? this.#query[name] : undefined;
  }

  sha256(): string {
    return this.rules.hashBytes(this);
  }

  bodySha256(): string {
    this.#bodySha256 ??= sha256Hex(this.request.body);
    return this.#bodySha256;
  }

  url(): string {
    return this.rules.origin() + (this.request.target.split("?", 1)[0] ?? "");
  }

  /** By the text of an item, since a mended contract may find others before it; equal items are counted. */
  delivery(itemSha256?: string): string {
    this.#deliveryId ??= this.request.deliveryId ?? randomUUID();
    if (itemSha256 === undefined) return this.#deliveryId;
    this.#equalItems ??= new Map();
    const count = (this.#equalItems.get(itemSha256) ?? 0) + 1;
    this.#equalItems.set(itemSha256, count);
    return `${this.#deliveryId}:${itemSha256}:${count}`;
  }
}

/** One event of a batch: it has the request of its callback, whose body is parsed once. */
export class ItemReading extends CallbackReading {
  readonly item: JsonValue;
  readonly parent: JsonValue | undefined;
  readonly #callback: CallbackReading;
  #itemSha256: string | undefined;

  constructor(callback: CallbackReading, { item, parent }: { item: JsonValue; parent?: JsonValue | undefined }) {
    super(callback.request, callback.rules);
    this.#callback = callback;
    this.item = item;
    this.parent = parent;
  }

  override get decoded(): Decoded {
    return this.#callback.decoded;
  }

  override query(name: string): JsonValue | undefined {
    return this.#callback.query(name);
  }

  override bodySha256(): string {
    this.#itemSha256 ??= sha256Hex(Buffer.from(JSON.stringify(this.item)));
    return this.#itemSha256;
  }

  override delivery(): string {
    return this.#callback.delivery(this.bodySha256());
  }
}

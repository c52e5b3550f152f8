/** The versions of SPEC 9; a path or `X-API-Version` selects one. */
export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The source of the built-in protocol. */
export const PLATFORM = "platform";
/** Its name wherever a user reads it. */
export const BUILT_IN_PROTOCOL = `the built-in protocol (\`${PLATFORM}\`)`;

/** The source of the events that OAuth redirects bring; the handlers of `platform` receive them. */
export const OAUTH = "oauth";

type PathParameters = Readonly<Record<string, string>>;

/** The tenant whom the parameters of a path name, such as `acme.example`; empty for a path without parameters. */
export function tenantName(params: PathParameters): string {
  return Object.values(params).join("/");
}

/** The source of a tenant's events, such as `shop/acme.example`: no two tenants share a record. */
export function tenantSource(name: string, params: PathParameters): string {
  return `${name}/${tenantName(params)}`;
}

/** Identifies an event: the same id from another source is another event. */
export interface EventKey {
  /** The source's name, then its tenant and the name of a handler where there are such: `shops/acme#audit`. */
  readonly source: string;
  /** 1 to 255 bytes of UTF-8, compared byte for byte. */
  readonly eventId: string;
}

/** The body of a callback after validation (SPEC 2.1), `data` as its handler's schema returned it. */
export interface CallbackEvent<Data = JsonObject> {
  readonly event_id: string;
  /** The type that selected the handler: the header's, where header and body disagree (SPEC 4.1). */
  readonly event_type: string;
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
  readonly data: Data;
  /** The request's headers that the source's contract names, in lower case; undefined where it names none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** In the source of a key, stands between a source and the name of a handler; neither contains it. */
const NAME_SEPARATOR = "#";

/** The source of the keys of a handler's events: `stripe`, or `stripe#audit` for a handler that has a name. */
export function keySourceOf({ source, name }: { source: string; name?: string | undefined }): string {
  return name === undefined ? source : `${source}${NAME_SEPARATOR}${name}`;
}

/** The configured source of an event's key, whichever of its tenants and handlers the key is of. */
export function sourceOf({ source }: Pick<EventKey, "source">): string {
  const tenant = source.indexOf("/");
  const end = tenant === -1 ? source.indexOf(NAME_SEPARATOR) : tenant;
  return end === -1 ? source : source.slice(0, end);
}

/** The tenant of an event's key; undefined for a source without tenants. */
export function tenantOf({ source }: Pick<EventKey, "source">): string | undefined {
  const start = source.indexOf("/");
  if (start === -1) return undefined;
  return withoutHandler(source).slice(start + 1);
}

/** The source of a key without the name of a handler: `stripe` of `stripe#audit`. */
export function withoutHandler(source: string): string {
  const end = source.indexOf(NAME_SEPARATOR);
  return end === -1 ? source : source.slice(0, end);
}

/** The key of an event at the handler without a name. */
export function plainKeyOf({ source, eventId }: EventKey): EventKey {
  return { source: withoutHandler(source), eventId };
}

/** The source of a key without its tenant: the handlers are the same for all tenants. */
export function withoutTenant(source: string): string {
  return source.includes("/") ? source.replace(/\/[^#]*/, "") : source;
}

/** One text for a key, for maps and encryption contexts; the separator cannot stand in either part. */
export function keyText(key: EventKey): string {
  return `${key.source}\u0000${key.eventId}`;
}

/** One order of events for all processes, by their ids. */
export function compareKeys(one: EventKey, other: EventKey): number {
  if (one.eventId !== other.eventId) return one.eventId < other.eventId ? -1 : 1;
  return one.source < other.source ? -1 : 1;
}

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Undefined where the text is not JSON. Its error is dropped: it shows a part of the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy, at a fifth of `structuredClone`'s cost. @param object made by a parser that refuses `__proto__` as a key */
export function copyJson(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(object)) copy[key] = copyOf(value);
  return copy;
}

function copyOf(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? value.map(copyOf) : copyJson(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A text as a segment of a path, still to be percent-encoded. An id may be `.` or `..`. Parsers of addresses remove
 * both, encoded or not (URL Standard, "double-dot URL path segment"). So these get a `~` before them, and so
 * do texts that already begin with `~` and would read alike. Every other text is left as it is.
 */
export function toPathSegment(text: string): string {
  return /^~*\.{1,2}$/.test(text) ? `~${text}` : text;
}

/** The reverse of `toPathSegment`. @param segment no longer percent-encoded */
export function fromPathSegment(segment: string): string {
  return /^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment;
}

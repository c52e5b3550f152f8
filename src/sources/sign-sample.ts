import { randomBytes, randomUUID } from "node:crypto";
import { isRefused, type JsonObject } from "../domain/index.ts";
import type { SampleRequest } from "./contract/sample.ts";
import { distinctHeaders } from "./request.ts";
import type { SourceDefinition } from "./source-definition.ts";

/** Why no sample of a source's callback can be made here; the message says what to do. */
export class SampleError extends Error {
  override readonly name = "SampleError";
}

export interface SignedSampleRequest extends Omit<SampleRequest, "newId" | "now"> {
  /** The source's name. */
  readonly source: string;
  /** When it is signed; also the event's time, where `time` is left out. */
  readonly now: Date;
  readonly time?: Date;
  /** The address of the receiver. */
  readonly url: URL;
  /** Protocol and host that the platform would have registered. */
  readonly origin: string;
  /** Signed in place of the sample's body. */
  readonly raw?: Uint8Array | undefined;
  /** Whether \`raw\` must be a callback with an event of the type; else it may be anything. */
  readonly isRawEvent?: boolean;
  /** Beside those of the platform, over them, and signed where it signs them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface SignedSample {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** As the source reads it; undefined where the body was given, and may be anything. */
  readonly event: JsonObject | undefined;
}

/**
 * A sample of a callback with an event of the type, in the platform's shape and with its signature.
 * @throws SampleError where none can be made
 */
export function signSample(definition: SourceDefinition, request: SignedSampleRequest): SignedSample {
  const { sign = () => ({}), signBody = (body) => body, facts } = definition;
  if (definition.sign === undefined && definition.signBody === undefined)
    throw new SampleError(
      `${request.source}: no callback of ${facts.title} can be signed here; have it send a test event (${facts.docs})`,
    );
  const { now, time = now, url, origin, raw, isRawEvent = false, headers: extraHeaders = {} } = request;
  const target = `${url.pathname}${url.search}`;
  const sample = orSampleError(request.source, () => definition.sample({ ...request, newId: newId(), now: time }));
  const body = orSampleError(request.source, () => signBody(raw ?? sample.body, now, false));
  const unsigned = withHeaders(sample.headers, extraHeaders);
  const signature = orSampleError(request.source, () =>
    sign({ body, headers: unsigned, method: "POST", target, origin, now }),
  );
  const headers = withHeaders(withHeaders(unsigned, signature), extraHeaders);
  return {
    headers,
    body,
    event: raw === undefined || isRawEvent ? eventIn(definition, request, { headers, body, target }) : undefined,
  };
}

/** How a sample is signed: as the platform would, with a wrong signature or token, or not at all. */
export type SampleSignature = "right" | "wrong" | "none";

/** The source, whose samples are signed in this way from here on. */
export function signedAs(definition: SourceDefinition, signature: SampleSignature): SourceDefinition {
  const { sign, signBody } = definition;
  if (signature === "right") return definition;
  const isWrong = signature === "wrong";
  return {
    ...definition,
    ...(sign !== undefined && { sign: (request) => (isWrong ? signWrong(sign, request) : {}) }),
    ...(signBody !== undefined && {
      signBody: (body, now) => (isWrong ? signBody(body, now, true) : body),
    }),
  };
}

type Sign = NonNullable<SourceDefinition["sign"]>;

/** The signature of another body. A token, which is the same for every body, becomes a random one. */
function signWrong(sign: Sign, request: Parameters<Sign>[0]): Record<string, string> {
  const right = sign(request);
  const wrong = sign({ ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) });
  if (Object.entries(right).some(([name, value]) => wrong[name] !== value)) return wrong;
  const names = Object.keys(right);
  return Object.fromEntries(names.map((name) => [name, randomBytes(32).toString("base64url")]));
}

/** Like the ids of many platforms: no character in it separates the parts of a template. */
function newId(): string {
  return `evt_${randomUUID().replaceAll("-", "")}`;
}

/** Presets throw a TypeError for what they cannot make: a signed header that samples lack, a body in another format. */
function orSampleError<Result>(source: string, make: () => Result): Result {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new SampleError(`${source}: no sample can be made: ${cause.message}`, { cause });
  }
}

/** The latter win; the case of names does not count. */
function withHeaders(
  headers: Readonly<Record<string, string>>,
  over: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(over).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...over };
}

/** The event as the source will read it. @throws SampleError where that is no event, or one of another type */
function eventIn(
  definition: SourceDefinition,
  { source, type, now, origin }: SignedSampleRequest,
  { headers, body, target }: { headers: Record<string, string>; body: Uint8Array; target: string },
): JsonObject {
  const contract = definition.createContract({
    name: source,
    clock: { now: () => now },
    origin: () => origin,
  });
  const read = contract.read({ method: "POST", target, headers: distinctHeaders(headers), body });
  const { title } = definition.facts;
  if (isRefused(read))
    throw new SampleError(
      `${source}: no sample of ${title} with an event of the type ${JSON.stringify(type)} can be made: ${read.message}`,
    );
  if (read.kind === "handshake")
    throw new SampleError(
      `${source}: ${title} asks with ${JSON.stringify(type)} whether the address is yours; name the type of an event`,
    );
  const [event] = read.kind === "event" ? [read.event] : read.events;
  const typeRead = event?.typeOf();
  if (event === undefined || typeRead !== type)
    throw new SampleError(
      `${source}: ${title} has no type ${JSON.stringify(type)}; its callback would be of the type ${JSON.stringify(typeRead)}`,
    );
  return event.json;
}

import { type JsonValue, type PathKey, parsePath, type Refused, refused } from "../../domain/index.ts";
import { sha256Hex } from "../formats/parse-body.ts";
import { naming, optionError, wrongOption } from "../option-error.ts";
import type { EventTimeData } from "./event-time.ts";
import { compileLocation, compileText, readKept, type TextLocation, type TextPlace } from "./locate.ts";
import type { HashBytes, Readable } from "./reading.ts";

/**
 * The key of an event whose id is not signed. `id`: the platform's; `bytes`: the hash of what was signed; `delivery`: a
 * new one for each delivery, since a loss is worse than a second run.
 */
export type Identity = (typeof IDENTITIES)[number];

const IDENTITIES = ["id", "bytes", "delivery"] as const;

export interface IdentityData {
  /** The first that is there. An empty text counts as missing. `sha256` says that the platform sends no id. */
  readonly id: TextPlace | readonly TextPlace[];
  /** Default: whether all places of the id lie in what is signed; a function does not, unless this says so. */
  readonly isIdSigned?: boolean;
  /** Refused for a signed id, which is the key. Default: `id`, or `bytes` where the platform sends none. */
  readonly identity?: Identity | undefined;
  /** Distinguishes events of equal bytes, for `bytes` and `sha256`: one body is sent for several topics. */
  readonly bytesScope?: TextPlace | readonly TextPlace[];
  /** Fields of the body, or of an item, that count attempts, such as `body.retries`: `bytes` leaves them out. */
  readonly attemptFields?: readonly string[];
  /**
   * Whether a retry has a new signed timestamp, which `bytes` leaves out then. Default: whether the event's time stands in
   * the body (`eventTime`), and tells genuine events apart without it.
   */
  readonly renewsTimestamp?: boolean | undefined;
}

/** The key of a source's events, for those who operate it. */
export type EventIdentity = "signed-id" | Identity;

/** The key of a source's events, and what follows for its operator. */
export const IDENTITY_TEXTS = {
  "signed-id": "signed id: a callback that is sent again, or captured, is a duplicate",
  id: "id, not signed: someone who captured a callback could run it again under another id",
  bytes: "bytes: two equal callbacks are one event",
  delivery: "delivery: each one runs, a retry and a captured callback too",
} as const satisfies Record<EventIdentity, string>;

/** @returns what is wrong with a setting, in words that follow its name */
export function identityFault(identity: unknown): string | undefined {
  if (IDENTITIES.some((one) => one === identity)) return undefined;
  return `got ${JSON.stringify(identity)}, expected "id", "bytes" or "delivery"`;
}

/** @throws TypeError for an identity that the platform's id does not allow */
export function identityOf({ identity, id: places }: IdentityData, isIdSigned: boolean): EventIdentity {
  const hasId = [places].flat().some((place) => place !== "sha256");
  const usual = !hasId ? "bytes" : isIdSigned ? "signed-id" : "id";
  if (identity === undefined) return usual;
  if (usual === "signed-id")
    throw optionError("identity", `"${identity}", but the id is signed, and is the key of its event: leave it out`);
  if (!hasId && identity === "id")
    throw optionError("identity", `"${identity}", but the sender has no id`, '"bytes" or "delivery"');
  return identity;
}

/** @returns reads a key. Its parameter `at` is what stands before the name of an item's place in a message */
export function compileKey(
  identity: EventIdentity,
  id: TextLocation,
): (reading: Readable, at: string) => string | Refused {
  if (identity === "delivery") return (reading) => reading.delivery();
  if (identity === "bytes") return (reading) => reading.sha256();
  return (reading, at) => {
    const kept = readKept(id, reading);
    if ("text" in kept) return kept.text;
    return refused("event_id_invalid", { message: `${at}${id.name}: ${kept.fault}` });
  };
}

/** Makes the hash of `sha256` and `identity: "bytes"`. @throws TypeError for an invalid place */
export function compileBytes(data: IdentityData & { readonly eventTime?: EventTimeData }): HashBytes {
  const { bytesScope, attemptFields = [], eventTime } = data;
  const scope = bytesScope === undefined ? undefined : naming({ option: "bytesScope" }, () => compileText(bytesScope));
  const counts = naming({ option: "attemptFields" }, () => attemptFields.map(compileField));
  const isInBody = eventTime !== undefined && /^(?:body|item)\b/.test(eventTime.at);
  const ownTime = isInBody ? compileLocation(eventTime.at) : undefined;
  return (reading) => {
    const event = counts.length === 0 ? undefined : (reading.item ?? reading.body);
    const body = event === undefined ? reading.bodySha256() : hashWithout(counts, event);
    const hasTime = !(data.renewsTimestamp ?? ownTime?.read(reading) !== undefined);
    const signed = reading.signedText?.(body, hasTime) ?? body;
    const scopeText = scope?.read(reading);
    const text = scopeText !== undefined && "text" in scopeText ? `${scopeText.text}\n${signed}` : signed;
    return text === body ? body : sha256Hex(Buffer.from(text));
  };
}

function compileField(place: string): readonly PathKey[] {
  const path = /^(?:body|item)\./.test(place) ? parsePath(place.slice("body".length)) : undefined;
  if (path === undefined) throw wrongOption(undefined, place, "a place such as body.retries");
  return path;
}

function hashWithout(fields: readonly (readonly PathKey[])[], event: JsonValue): string {
  const copy = structuredClone(event);
  for (const path of fields) remove(copy, path);
  return sha256Hex(Buffer.from(JSON.stringify(copy)));
}

function remove(holder: JsonValue | undefined, [key = "", ...rest]: readonly PathKey[]): void {
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return;
  if (rest.length > 0) return remove(Reflect.get(holder, key) as JsonValue, rest);
  Reflect.deleteProperty(holder, key);
}

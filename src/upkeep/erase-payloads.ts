import { createHash } from "node:crypto";
import { decryptCapture } from "../dev/capture/index.ts";
import {
  bodyHoldsValue,
  bodyMeetsCondition,
  ERASED,
  type EventKey,
  keyText,
  meetsCondition,
  type PayloadCondition,
  parseJson,
  plainKeyOf,
  textWithoutValue,
} from "../domain/index.ts";
import { failureContext, type Receiver } from "../pipeline/index.ts";
import { decryptOriginals, encryptOriginals, type Original, type ScannedRow } from "../store/index.ts";

/** The counts of an erasure, and the proof of which events it was of. */
export interface ErasureReport {
  readonly events: number;
  readonly originals: number;
  readonly callbacks: number;
  /** They run only if their platform sends them again. */
  readonly failures: number;
  readonly notifications: number;
  readonly captures: number;
  /** No configured key decrypts them. */
  readonly unreadable: number;
  /** SHA-256 in hex of the sources and ids of the events, sorted, one a line. The value is not in it. */
  readonly digest: string;
}

interface Found {
  readonly keys: Map<string, EventKey>;
  readonly storedEvents: EventKey[];
  readonly callbacks: Set<number>;
  readonly failures: Set<string>;
  readonly captures: number[];
  unreadable: number;
}

type Dependencies = Pick<Receiver, "store" | "encryptor" | "log">;

/**
 * Removes a person's payloads from all that is stored: originals, log entries, failures, notifications, preparations,
 * errors of attempts, captured callbacks. Records stay. An event that comes meanwhile is of the next erasure.
 * @param options.isDryRun only counts
 */
export async function erasePayloads(
  condition: PayloadCondition,
  { isDryRun }: { readonly isDryRun: boolean },
  dependencies: Dependencies,
): Promise<ErasureReport> {
  const { store } = dependencies;
  const { erasure } = store;
  const found = await findEvents(condition, dependencies);
  await addHandlersKeys(found, dependencies);
  for (const key of found.keys.values()) for (const id of await erasure.callbackIds(key)) found.callbacks.add(id);
  const notifications: number[] = [];
  for await (const { id, source, eventId, text = "" } of erasure.scan("notifications")) {
    const isOfEvent = source !== null && eventId !== null && found.keys.has(keyText({ source, eventId }));
    if (isOfEvent || bodyMeetsCondition(text, condition)) notifications.push(id);
  }
  if (!isDryRun) {
    // Rows that the value is found by go last: an interrupted erasure can be repeated.
    await erasure.deleteOrderKeys(condition.value);
    await erasure.eraseNotifications(notifications);
    for (const key of found.keys.values()) await erasure.eraseTraces(key, condition.value);
    // Again afterwards: the index may have been built from the rows meanwhile.
    await store.valueIndex.forget([...found.callbacks]);
    for (const id of found.callbacks) await erasure.eraseCallback(id, condition.value);
    await store.valueIndex.forget([...found.callbacks]);
    for (const key of found.storedEvents) await erasure.eraseStoredEvent(key);
    for (const key of found.keys.values()) await erasure.deleteFailure(key);
    await erasure.deleteCaptures(found.captures);
  }
  const originals = await eraseOriginals(found, condition, isDryRun, dependencies);
  return {
    events: new Set([...found.keys.values()].map((key) => keyText(plainKeyOf(key)))).size,
    originals,
    callbacks: found.callbacks.size,
    failures: found.failures.size,
    notifications: notifications.length,
    captures: found.captures.length,
    unreadable: found.unreadable,
    digest: digestOf([...found.keys.values()]),
  };
}

/** In one pass over each table: payloads have no index. */
async function findEvents(condition: PayloadCondition, { store, encryptor, log }: Dependencies): Promise<Found> {
  const { erasure, storedEvents } = store;
  const found: Found = {
    keys: new Map(),
    storedEvents: [],
    callbacks: new Set(),
    failures: new Set(),
    captures: [],
    unreadable: 0,
  };
  const add = (key: EventKey) => void found.keys.set(keyText(key), key);
  const orUnread = <Value>({ id }: ScannedRow, decrypt: () => Value): Value | undefined => {
    try {
      return decrypt();
    } catch (err) {
      found.unreadable += 1;
      log.warn({ err, id }, "a stored payload cannot be decrypted, so an erasure passed it over");
      return undefined;
    }
  };
  for await (const row of erasure.scan("originals"))
    for (const original of orUnread(row, () => decryptOriginals(bytesOf(row), encryptor)) ?? [])
      if (bodyMeetsCondition(original.body, condition)) add(keyOf(original));
  for await (const row of erasure.scan("failures")) {
    const key = { source: String(row.source), eventId: String(row.eventId) };
    const body = orUnread(row, () => encryptor.decrypt(bytesOf(row), failureContext(key)));
    if (body !== undefined && keptBodies(body).some((one) => bodyMeetsCondition(one, condition))) {
      add(key);
      found.failures.add(keyText(key));
    }
  }
  for await (const { id, source, eventId, text = "" } of erasure.scan("callbacks")) {
    const isOfEvent = source !== null && eventId !== null;
    if (!(isOfEvent ? bodyMeetsCondition : holdsInWhole)(text, condition)) continue;
    found.callbacks.add(id);
    if (isOfEvent) add({ source, eventId });
  }
  if (await storedEvents.exist())
    for await (const { source, id, data } of erasure.storedEvents())
      if (meetsCondition({ data: parseJson(data) }, condition)) {
        add({ source, eventId: id });
        found.storedEvents.push({ source, eventId: id });
      }
  for await (const row of erasure.scan("captures")) {
    const { id, requestId = "" } = row;
    const captured = { id, requestId, receivedAt: "", encrypted: bytesOf(row) };
    const body = orUnread(row, () => decryptCapture(captured, encryptor).body);
    if (body !== undefined && holdsInWhole(body, condition)) found.captures.push(id);
  }
  return found;
}

const IDS_AT_ONCE = 1_000;

/** An event has a key for each of its handlers, also for one that got it in a backfill. */
async function addHandlersKeys({ keys }: Found, { store }: Dependencies): Promise<void> {
  const events = new Map([...keys.values()].map((key) => [keyText(plainKeyOf(key)), plainKeyOf(key)]));
  const ids = [...events.values()].map(({ eventId }) => eventId);
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
    for (const { source, eventId } of await store.backfills.keysOf(ids.slice(at, at + IDS_AT_ONCE))) {
      const key = { source, eventId };
      if (events.has(keyText(plainKeyOf(key)))) keys.set(keyText(key), key);
    }
}

/** A whole request may be a batch, whose items have the path. Its copy is erased as a whole, its events are not. */
const holdsInWhole = (body: Uint8Array | string, condition: PayloadCondition): boolean =>
  bodyMeetsCondition(body, condition) || bodyHoldsValue(body, condition);

/** A failure holds an event's envelope, or a whole request with its body in base64. */
function keptBodies(body: Uint8Array): readonly (Uint8Array | string)[] {
  const request = parseJson(Buffer.from(body).toString()) as { readonly body?: unknown } | undefined;
  return typeof request?.body === "string" ? [body, Buffer.from(request.body, "base64")] : [body];
}

const ERASED_BODY = Buffer.from(ERASED);

/** Rewrites the blocks that hold such events. @returns how many originals lost their body */
async function eraseOriginals(
  { keys }: Pick<Found, "keys">,
  { value }: PayloadCondition,
  isDryRun: boolean,
  { store, encryptor }: Dependencies,
): Promise<number> {
  // biome-ignore lint/plugin: an erased body is no secret.
  const isHit = (one: Original) => keys.has(keyText(keyOf(one))) && Buffer.compare(one.body, ERASED_BODY) !== 0;
  let erased = 0;
  // A block that was merged with others meanwhile stands in a row that may have been passed already.
  for (let isMoved = true; isMoved; ) {
    isMoved = false;
    for await (const row of store.erasure.scan("originals")) {
      const before = bytesOf(row);
      const originals = readableOriginals(before, encryptor);
      const count = originals.filter(isHit).length;
      if (count === 0) continue;
      const after = () => originals.map((one) => (isHit(one) ? withoutPayload(one, value) : one));
      const isDone =
        isDryRun || (await store.erasure.replaceOriginals(row.id, before, encryptOriginals(after(), encryptor)));
      if (isDone) erased += count;
      else isMoved = true;
    }
  }
  return erased;
}

/** Those of an unreadable block were counted before. */
function readableOriginals(encrypted: Uint8Array, encryptor: Receiver["encryptor"]): readonly Original[] {
  try {
    return decryptOriginals(encrypted, encryptor);
  } catch {
    return [];
  }
}

const bytesOf = ({ encrypted }: ScannedRow) => encrypted as Uint8Array;

function withoutPayload(original: Original, value: string): Original {
  const { rawHeaders, target } = original;
  return {
    ...original,
    target: textWithoutValue(target, value),
    rawHeaders: rawHeaders.map((text) => textWithoutValue(text, value)),
    body: ERASED_BODY,
  };
}

const keyOf = ({ source, eventId }: EventKey): EventKey => ({ source, eventId });

function digestOf(keys: readonly EventKey[]): string {
  const lines = keys.map(({ source, eventId }) => `${source}/${eventId}\n`).toSorted();
  return createHash("sha256").update(lines.join("")).digest("hex");
}

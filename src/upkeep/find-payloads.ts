import { decryptCapture } from "../dev/capture/index.ts";
import {
  bodyHoldsValue,
  bodyMeetsCondition,
  type EventKey,
  isRefused,
  type JsonValue,
  keyText,
  meetsCondition,
  type PayloadCondition,
  parseJson,
  plainKeyOf,
} from "../domain/index.ts";
import { failureContext, type Receiver, readOriginal } from "../pipeline/index.ts";
import { decryptOriginals, type Original, type ScannedRow } from "../store/index.ts";
import { createGiveWay, type GiveWay } from "./give-way.ts";

/** All that an erasure is of. */
export interface FoundPayloads {
  /** Of events, one for each handler. */
  readonly keys: Map<string, EventKey>;
  readonly storedEvents: EventKey[];
  readonly callbacks: Set<number>;
  readonly failures: Set<string>;
  notifications: readonly number[];
  readonly captures: number[];
  /** Stored payloads that no configured key decrypts. */
  unreadable: number;
}

export type FindingParts = Pick<Receiver, "store" | "encryptor" | "clock" | "log" | "runLock" | "sourcesByName">;

/** In one pass over each table: payloads have no index. */
export async function findPayloads(condition: PayloadCondition, parts: FindingParts): Promise<FoundPayloads> {
  const found: FoundPayloads = {
    keys: new Map(),
    storedEvents: [],
    callbacks: new Set(),
    failures: new Set(),
    notifications: [],
    captures: [],
    unreadable: 0,
  };
  const search = { condition, found, parts, giveWay: createErasureGiveWay() };
  await findInOriginals(search);
  await findInFailures(search);
  await findInCallbacks(search);
  await findInStoredEvents(search);
  await addHandlersKeys(found, parts.store);
  const { erasure } = parts.store;
  for (const key of found.keys.values()) for (const id of await erasure.callbackIds(key)) found.callbacks.add(id);
  found.notifications = await notificationsOf(found, parts.store, (payload) => bodyMeetsCondition(payload, condition));
  await findInCaptures(search);
  return found;
}

interface Search {
  readonly condition: PayloadCondition;
  readonly found: FoundPayloads;
  readonly parts: FindingParts;
  readonly giveWay: GiveWay;
}

/** Half of the time for callbacks, however many there are: an erasure is to end. */
export const createErasureGiveWay = () =>
  createGiveWay(
    () => 0,
    () => false,
  );

function add({ found }: Search, { source, eventId }: EventKey): void {
  found.keys.set(keyText({ source, eventId }), { source, eventId });
}

/** Undefined where no configured key decrypts it. */
function orUnread<Value>({ found, parts }: Search, { id }: ScannedRow, decrypt: () => Value): Value | undefined {
  try {
    return decrypt();
  } catch (err) {
    found.unreadable += 1;
    parts.log.warn({ err, id }, "a stored payload cannot be decrypted, so an erasure passed it over");
    return undefined;
  }
}

async function findInOriginals(search: Search): Promise<void> {
  const { store, encryptor } = search.parts;
  for await (const row of store.erasure.scan("originals"))
    for (const original of orUnread(search, row, () => decryptOriginals(bytesOf(row), encryptor)) ?? []) {
      await search.giveWay();
      if (originalMeets(original, search)) add(search, original);
    }
}

async function findInFailures(search: Search): Promise<void> {
  const { store, encryptor } = search.parts;
  for await (const row of store.erasure.scan("failures")) {
    await search.giveWay();
    const key = { source: String(row.source), eventId: String(row.eventId) };
    const body = orUnread(search, row, () => encryptor.decrypt(bytesOf(row), failureContext(key)));
    if (body === undefined || !keptBodies(body).some((one) => bodyMeetsCondition(one, search.condition))) continue;
    add(search, key);
    search.found.failures.add(keyText(key));
  }
}

async function findInCallbacks(search: Search): Promise<void> {
  const { condition, found, parts } = search;
  for await (const row of parts.store.erasure.scan("callbacks")) {
    await search.giveWay();
    const { id, source, eventId, text = "" } = row;
    if (source === null || eventId === null) {
      if (holdsInWhole(text, condition)) found.callbacks.add(id);
    } else if (!found.keys.has(keyText({ source, eventId })) && originalMeets(entryAsOriginal(row), search))
      add(search, { source, eventId });
  }
}

async function findInStoredEvents(search: Search): Promise<void> {
  const { erasure, storedEvents } = search.parts.store;
  if (!(await storedEvents.exist())) return;
  for await (const { source, id, data } of erasure.storedEvents()) {
    await search.giveWay();
    if (meetsCondition({ data: parseJson(data) }, search.condition)) {
      add(search, { source, eventId: id });
      search.found.storedEvents.push({ source, eventId: id });
    }
  }
}

/** Their bodies may be packed or encrypted: one whose log entry was found is of the same request. */
async function findInCaptures(search: Search): Promise<void> {
  const { condition, found, parts } = search;
  const { erasure } = parts.store;
  const requestIds = await erasure.requestIds([...found.callbacks]);
  for await (const row of erasure.scan("captures")) {
    await search.giveWay();
    const { id, requestId = "" } = row;
    const captured = { id, requestId, receivedAt: "", encrypted: bytesOf(row) };
    const body = orUnread(search, row, () => decryptCapture(captured, parts.encryptor).body);
    if (requestIds.has(requestId) || (body !== undefined && holdsInWhole(body, condition))) found.captures.push(id);
  }
}

const IDS_AT_ONCE = 1_000;

/** An event has a key for each of its handlers, also for one that got it in a backfill. */
export async function addHandlersKeys({ keys }: Pick<FoundPayloads, "keys">, store: Receiver["store"]): Promise<void> {
  const events = new Map([...keys.values()].map((key) => [keyText(plainKeyOf(key)), plainKeyOf(key)]));
  const ids = [...events.values()].map(({ eventId }) => eventId);
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
    for (const { source, eventId } of await store.backfills.keysOf(ids.slice(at, at + IDS_AT_ONCE))) {
      const key = { source, eventId };
      if (events.has(keyText(plainKeyOf(key)))) keys.set(keyText(key), key);
    }
}

/** Those that runs of the events made, and those whose payload meets. */
export async function notificationsOf(
  { keys }: Pick<FoundPayloads, "keys">,
  { erasure }: Receiver["store"],
  meets: (payload: string) => boolean = () => false,
): Promise<readonly number[]> {
  const ids: number[] = [];
  const giveWay = createErasureGiveWay();
  for await (const { id, source, eventId, text = "" } of erasure.scan("notifications")) {
    await giveWay();
    const isOfEvent = source !== null && eventId !== null && keys.has(keyText({ source, eventId }));
    if (isOfEvent || meets(text)) ids.push(id);
  }
  return ids;
}

/** Judges it as it was sent, and as its handler saw it, which a form may hold as a text. */
function originalMeets(original: Original, { condition, parts }: Search): boolean {
  if (bodyMeetsCondition(original.body, condition)) return true;
  const read = readOriginal(original, parts);
  // A whole callback of several events, which could not be read when it came, is not of one of them.
  return !isRefused(read) && read.events.length === 1 && meetsCondition(read.events[0]?.content.json, condition);
}

/** The log has the body masked, and a long one cut: where the original is kept, that counts. */
function entryAsOriginal(row: ScannedRow): Original {
  const { source, eventId, text = "", eventType, method = "", url: target = "", requestHeaders = "{}" } = row;
  const headers = parseJson(requestHeaders) as Record<string, JsonValue>;
  return {
    ...{ source: String(source), eventId: String(eventId), eventType: eventType ?? "", method, target },
    ...{ version: "", receivedAt: new Date(0).toISOString() },
    rawHeaders: Object.entries(headers).flat().map(String),
    body: Buffer.from(text),
  };
}

/** A whole request may be a batch, whose items have the path. Its copy is erased as a whole, its events are not. */
const holdsInWhole = (body: Uint8Array | string, condition: PayloadCondition): boolean =>
  bodyMeetsCondition(body, condition) || bodyHoldsValue(body, condition);

/** A failure holds an event's envelope, or a whole request with its body in base64. */
function keptBodies(body: Uint8Array): readonly (Uint8Array | string)[] {
  const request = parseJson(Buffer.from(body).toString()) as { readonly body?: unknown } | undefined;
  return typeof request?.body === "string" ? [body, Buffer.from(request.body, "base64")] : [body];
}

/** Those of an unreadable block were counted before. */
export function readableOriginals(encrypted: Uint8Array, encryptor: Receiver["encryptor"]): readonly Original[] {
  try {
    return decryptOriginals(encrypted, encryptor);
  } catch {
    return [];
  }
}

export const bytesOf = ({ encrypted }: ScannedRow) => encrypted as Uint8Array;

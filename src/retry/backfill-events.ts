import { isRefused, keySourceOf, keyText, plainKeyOf, type Version, withoutHandler } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import { type AttemptInput, type Receiver, readOriginal } from "../pipeline/index.ts";
import { type EventContent, sha256Hex } from "../sources/index.ts";
import {
  type BackfillPosition,
  envelopeOf,
  type NewBackfill,
  type Original,
  type Store,
  type StoredEvent,
} from "../store/index.ts";
import type { HistoryItem } from "./backfill-history.ts";

/** An event for one handler, under the key that it has there. */
export interface BackfillTarget extends Pick<AttemptInput, "key" | "content" | "version" | "eventType"> {
  readonly receivedAt: Date;
  /** The source of its row in `events`, where it is read from there. */
  readonly storedSource?: string;
}

/** An event ends so for one handler. */
export type BackfillResult =
  | { readonly kind: "accepted"; readonly target: BackfillTarget }
  | { readonly kind: "alreadyTaken" | "erased" | "expired" | "unreadable" }
  | { readonly kind: "heldBack"; readonly handler: string }
  | { readonly kind: "ignored"; readonly type: string };

export interface SortedItem {
  readonly position: BackfillPosition;
  /** One for each handler; none where the item is nothing to the backfill. */
  readonly results: readonly BackfillResult[];
}

type Asked = Pick<NewBackfill, "handler" | "eventType" | "includesFormer">;

export interface SortingParts extends Pick<Receiver, "sourcesByName"> {
  readonly store: Pick<Store, "backfills" | "storedEvents">;
  /** Of the user's handlers only: the built-in one that stores events is none of them. */
  readonly registry: Registry;
}

/** The source of a handler as an operator names it, and its own name: `stripe`, `stripe#audit`. */
export function handlerNameOf(handler: string): { readonly source: string; readonly name: string | undefined } {
  const source = withoutHandler(handler);
  return { source, name: source === handler ? undefined : handler.slice(source.length + 1) };
}

/** Sorts items by the handlers that are configured, and by what is stored now. */
export async function sortOut(
  items: readonly HistoryItem[],
  asked: Asked,
  parts: SortingParts,
): Promise<readonly SortedItem[]> {
  const originals = items.flatMap((item) => (item.kind === "original" ? plainKeyOf(item.original) : []));
  // These were read from the table `events` before.
  const stored = await parts.store.storedEvents.among(originals);
  const isStored = (item: HistoryItem) => item.kind === "original" && stored.has(keyText(plainKeyOf(item.original)));
  const read = items.map((item) => ({ item, results: isStored(item) ? [] : resultsOf(item, asked, parts) }));
  const targets = read.flatMap(({ results }) => results.flatMap((one) => (one.kind === "accepted" ? one.target : [])));
  const sort = await sorterOf(targets, asked, parts);
  return read.map(({ item, results }) => ({ position: item.position, results: results.flatMap(sort) }));
}

/** Every handler's event counts as accepted here. */
function resultsOf(item: HistoryItem, asked: Asked, parts: SortingParts): readonly BackfillResult[] {
  switch (item.kind) {
    case "passed":
      return [];
    case "stored":
      return ofStored(item.event, asked, parts);
    case "original":
      return ofOriginal(item.original, asked, parts);
    default:
      return [{ kind: item.kind }];
  }
}

function ofStored(event: StoredEvent, asked: Asked, parts: SortingParts): readonly BackfillResult[] {
  const key = { source: event.source, eventId: event.id };
  return forHandlers({ ...readStored(event), key, storedSource: event.source }, asked, parts);
}

/** An event as its row in `events` has it. */
export function readStored(
  event: StoredEvent,
): Pick<BackfillTarget, "content" | "version" | "eventType" | "receivedAt"> {
  const json = envelopeOf(event);
  const body = Buffer.from(JSON.stringify(json));
  const content = { json, body, bodySha256: sha256Hex(body) };
  const version = (event.version ?? "v1") as Version;
  return { content, version, eventType: event.type, receivedAt: new Date(event.receivedAt) };
}

function ofOriginal(original: Original, asked: Asked, parts: SortingParts): readonly BackfillResult[] {
  const read = readOriginal(original, parts);
  if (isRefused(read)) return [{ kind: "unreadable" }];
  const receivedAt = new Date(original.receivedAt);
  const version = original.version as Version;
  return read.events.flatMap(({ key, content }): readonly BackfillResult[] => {
    const eventType = content.typeOf();
    if (isRefused(eventType)) return [{ kind: "unreadable" }];
    return forHandlers({ key: plainKeyOf(key), content, version, eventType, receivedAt }, asked, parts);
  });
}

function forHandlers(
  event: BackfillTarget,
  { handler, eventType: wantedType }: Asked,
  { registry, sourcesByName }: SortingParts,
): readonly BackfillResult[] {
  const { key, content, version, eventType } = event;
  const { source, name } = handlerNameOf(handler);
  if (wantedType !== null && eventType !== wantedType) return [];
  const contract = sourcesByName.get(source)?.contract;
  try {
    if (contract?.isWanted?.(content as EventContent, eventType) === false)
      return [{ kind: "ignored", type: eventType }];
  } catch {
    return [{ kind: "unreadable" }];
  }
  const keySources = registry
    .keySources(key.source, version, eventType)
    .filter((keySource) => name === undefined || keySource === keySourceOf({ source: key.source, name }));
  if (keySources.length === 0) return [{ kind: "ignored", type: eventType }];
  return keySources.map((keySource) => ({
    kind: "accepted",
    target: { ...event, key: { source: keySource, eventId: key.eventId } },
  }));
}

/** Looks up the keys of these events: they may be handled by now. */
async function sorterOf(targets: readonly BackfillTarget[], { includesFormer }: Asked, parts: SortingParts) {
  const { store, registry } = parts;
  const keys = await store.backfills.keysOf(targets.map(({ key }) => key.eventId));
  const known = new Set(keys.map(keyText));
  const handled = Map.groupBy(
    keys.filter(({ isHandled }) => isHandled),
    (key) => keyText(plainKeyOf(key)),
  );
  const taken = new Set<string>();
  for (const { key, storedSource } of targets)
    if (storedSource !== undefined && (await store.storedEvents.isTaken(key))) taken.add(keyText(key));

  /** A handler that no configured one has the key of, such as one that was renamed. */
  function formerHandlerOf(target: BackfillTarget): string | undefined {
    const { key, version, eventType, storedSource } = target;
    return handled.get(keyText(plainKeyOf(key)))?.find(
      // The record under the name of the source may be of the storing.
      ({ source }) => !(source === storedSource) && registry.find(source, version, eventType) === undefined,
    )?.source;
  }

  return (result: BackfillResult): readonly BackfillResult[] => {
    if (result.kind !== "accepted") return [result];
    const { target } = result;
    const isStored = target.storedSource !== undefined;
    const text = keyText(target.key);
    if (isStored ? taken.has(text) : known.has(text)) return [{ kind: "alreadyTaken" }];
    const former = includesFormer ? undefined : formerHandlerOf(target);
    return [former === undefined ? result : { kind: "heldBack", handler: former }];
  };
}

/** An event may have several originals, and would be accepted with the first of them. */
export function firstOfEach(): (result: BackfillResult) => boolean {
  const accepted = new Set<string>();
  return (result) => {
    if (result.kind !== "accepted") return true;
    const key = keyText(result.target.key);
    const isFirst = !accepted.has(key);
    accepted.add(key);
    return isFirst;
  };
}

import { setImmediate as nextTurn } from "node:timers/promises";
import { keyText, sourceOf } from "../domain/index.ts";
import {
  type BackfillPosition,
  byArrival,
  decryptOriginals,
  isErased,
  isErasedRow,
  type Original,
  type OriginalBlock,
  type Store,
  type StoredEvent,
} from "../store/index.ts";
import type { Encryptor } from "../system/index.ts";

/** `passed`: there was nothing of the source up to there. `unreadable`: a block that no configured key decrypts. */
export type HistoryItem = { readonly position: BackfillPosition } & (
  | { readonly kind: "stored"; readonly event: StoredEvent }
  | { readonly kind: "original"; readonly original: Original }
  | { readonly kind: "erased" | "expired" | "unreadable" | "passed" }
);

interface HistoryRange {
  readonly source: string;
  /** Of stored events, where only one is wanted. */
  readonly type: string | undefined;
  readonly since: Date;
  /** Of originals: records may be gone of events that came before, and then nothing tells whether they were handled. */
  readonly originalsSince: Date;
  readonly until: Date;
}

interface HistoryParts {
  readonly store: Pick<Store, "originals" | "storedEvents">;
  readonly encryptor: Pick<Encryptor, "decrypt">;
  readonly now: Date;
}

/** A page reads the whole table, which has no index by time. */
const STORED_PAGE = 5_000;
const WHOLE_BLOCK = Number.MAX_SAFE_INTEGER;

/**
 * All events of a source, the oldest first. Those in the table `events` come before originals in the order of their groups.
 * It ends with the originals that are there at its start.
 */
export async function* historyOf(
  range: HistoryRange,
  position: BackfillPosition,
  parts: HistoryParts,
): AsyncGenerator<HistoryItem> {
  if (position.phase !== "stored") return yield* originalsOf(range, position, parts);
  yield* storedEventsOf(range, position, parts);
  yield* originalsOf(range, { phase: "originals" }, parts);
}

async function* storedEventsOf(
  { source, type, since }: HistoryRange,
  { after: start }: Extract<BackfillPosition, { phase: "stored" }>,
  { store: { storedEvents } }: HistoryParts,
): AsyncGenerator<HistoryItem> {
  let after = start;
  for (let isOver = !(await storedEvents.exist()); !isOver; ) {
    const page = await storedEvents.page(source, { since, type, after, limit: STORED_PAGE });
    for (const event of page) {
      const { receivedAt, id } = event;
      after = { receivedAt, source: event.source, id };
      const position = { phase: "stored", after } as const;
      // It is counted where its original comes.
      yield isErasedRow(event) ? { kind: "passed", position } : { kind: "stored", event, position };
    }
    isOver = page.length < STORED_PAGE;
  }
}

type OfOriginals = Extract<BackfillPosition, { phase: "originals" | "late" }>;

async function* originalsOf(
  range: HistoryRange,
  { phase, after }: OfOriginals,
  { store: { originals }, encryptor, now }: HistoryParts,
): AsyncGenerator<HistoryItem> {
  const end = await originals.end();
  let last = after ?? { block: 0, index: WHOLE_BLOCK };
  const at = (block: number, index: number): OfOriginals => {
    last = { block, index };
    return { phase, after: last };
  };
  for (let blocks = await read(); blocks.length > 0; blocks = await read()) {
    const items: { readonly block: OriginalBlock; readonly items: ReturnType<typeof itemsOf> }[] = [];
    for (const block of blocks) {
      items.push({ block, items: itemsOf(block, range, { encryptor, now }) });
      // A merged one takes 20 ms, and SQLite reads without a turn of the event loop.
      await nextTurn();
    }
    const singles = items.flatMap((one) => (one.block.eventId === null ? [] : one.items.flatMap(originalIn)));
    const passed = await originals.handledLater(singles, encryptor);
    for (const { block, items: ofBlock } of items)
      for (const { index, ...item } of ofBlock) {
        if (block.id === last.block && index <= last.index) continue;
        const isPassed = block.eventId !== null && originalIn(item).some((one) => passed.has(keyText(one)));
        if (!isPassed) yield { ...item, position: at(block.id, index) };
      }
    yield { kind: "passed", position: at(blocks.at(-1)?.id ?? 0, WHOLE_BLOCK) };
  }
  function read(): Promise<readonly OriginalBlock[]> {
    const from = last.index === WHOLE_BLOCK ? last.block + 1 : last.block;
    return originals.blocks(from, end, range.originalsSince);
  }
}

type BlockItem =
  | { readonly kind: "original"; readonly original: Original }
  | { readonly kind: "erased" | "expired" | "unreadable" };

const originalIn = (item: BlockItem) => (item.kind === "original" ? [item.original] : []);

function itemsOf(
  { encrypted, keepUntil }: OriginalBlock,
  { source, originalsSince, until }: HistoryRange,
  { encryptor, now }: Pick<HistoryParts, "encryptor" | "now">,
): readonly (BlockItem & { readonly index: number })[] {
  let originals: Original[];
  try {
    originals = decryptOriginals(encrypted, encryptor).sort(byArrival);
  } catch {
    return [{ kind: "unreadable", index: 0 }];
  }
  const isExpired = Date.parse(keepUntil) < now.getTime();
  return originals.flatMap((original, index): (BlockItem & { readonly index: number })[] => {
    const came = Date.parse(original.receivedAt);
    // An event of the future came before the clock was set back.
    const isLater = came > until.getTime() && came <= now.getTime();
    if (sourceOf(original) !== source || came < originalsSince.getTime() || isLater) return [];
    if (isExpired) return [{ kind: "expired", index }];
    if (isErased(original.body)) return [{ kind: "erased", index }];
    return [{ kind: "original", original, index }];
  });
}

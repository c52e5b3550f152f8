import type { CallbackLogEntry, Clock, Log } from "../domain/index.ts";
import type { Encryptor } from "../system/index.ts";
import type { NewRecord } from "./areas/records.ts";
import { compress, compressAside, decompress, uncompressed } from "./compression.ts";
import { decodeOriginals, encodeOriginals, type Original, OriginalBlockWriter } from "./original-block.ts";

/** The request of an event that is about to be recorded. Nothing of it is copied before its block is made. */
export interface OriginalRequest extends Pick<Original, "method" | "target" | "rawHeaders" | "body"> {
  readonly receivedAt: Date;
  readonly keeper: OriginalKeeper;
}

/** A row of `oncehook_originals`, without the place of its events. */
export interface NewBlock {
  readonly keepUntil: Date;
  /** When the latest of its events came. */
  readonly newestAt: Date;
  readonly encrypted: Buffer;
}

/** An event whose original is kept, where its completion has one. */
export interface KeptEvent {
  readonly record: Pick<NewRecord, "source" | "eventId" | "eventType" | "version">;
  readonly completion: { readonly original?: OriginalRequest | undefined };
}

/** An entry of the callback log. That of an event that no handler took brings the original. */
export interface NewLogRow extends CallbackLogEntry {
  readonly unhandled?: KeptEvent | undefined;
}

/** The memory that a row's original takes until it is stored, in bytes. */
export function originalBytes({ unhandled }: NewLogRow): number {
  const { original } = unhandled?.completion ?? {};
  if (original === undefined) return 0;
  return original.body.length + original.rawHeaders.reduce((sum, text) => sum + text.length, original.target.length);
}

export interface SealedBlock<Event> {
  readonly block: NewBlock;
  readonly events: readonly Event[];
}

/** A block ends after this many bytes of bodies: a search decrypts whole blocks. */
const BLOCK_BYTES = 1_048_576;
/** On the path of a callback compression costs more than the bytes that it saves; a merge compresses later. */
const COMPRESSED_FROM = 65_536;
const PAUSE_MS = 60_000;
const TABLE = "oncehook_originals";
const NOT_KEPT =
  "the originals of events cannot be kept, and none are for a minute; their events are handled all the same";

/** One for all blocks. The keys of the events are inside: a block in another row is still of its own events. */
export const ORIGINALS_CONTEXT = "originals";

/**
 * Makes the blocks of all events that are kept for one time. No event may fail for its original. After an error none is
 * kept for a minute, and the event runs again without it.
 */
export class OriginalKeeper {
  readonly #keepMs: number;
  readonly #encryptor: Encryptor;
  readonly #clock: Clock;
  readonly #log: Log;
  #pausedUntil = 0;

  constructor(keepMs: number, { encryptor, clock, log }: OriginalKeeperDependencies) {
    this.#keepMs = keepMs;
    this.#encryptor = encryptor;
    this.#clock = clock;
    this.#log = log;
  }

  /** @param compressedFrom how many bytes are compressed now @returns undefined while none are kept, after an error */
  seal(events: readonly KeptEvent[], compressedFrom: number): NewBlock | undefined {
    if (performance.now() < this.#pausedUntil) return undefined;
    try {
      const block = new OriginalBlockWriter();
      let newest = 0;
      for (const { record, completion } of events) {
        const request = completion.original as OriginalRequest;
        const receivedAtMs = request.receivedAt.getTime();
        newest = Math.max(newest, receivedAtMs);
        block.add(record, receivedAtMs, request);
      }
      const plain = block.encode();
      const stored = plain.length < compressedFrom ? uncompressed(plain) : compress(plain);
      const encrypted = this.#encryptor.encrypt(stored, ORIGINALS_CONTEXT);
      const keepUntil = new Date(this.#clock.now().getTime() + this.#keepMs);
      const newestAt = new Date(newest);
      return { keepUntil, newestAt, encrypted: Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.length) };
    } catch (error) {
      this.pause(error);
      return undefined;
    }
  }

  pause(error: unknown): void {
    if (performance.now() < this.#pausedUntil) return;
    this.#pausedUntil = performance.now() + PAUSE_MS;
    this.#log.error({ err: error }, NOT_KEPT);
  }
}

interface OriginalKeeperDependencies {
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

/** One keeper for each time, so that the sources of one time share blocks. */
export function createOriginalKeepers(dependencies: OriginalKeeperDependencies) {
  const keepers = new Map<number, OriginalKeeper>();
  /** @param keepMs 0: no originals are kept */
  return (keepMs: number): OriginalKeeper | undefined => {
    if (keepMs === 0) return undefined;
    const keeper = keepers.get(keepMs) ?? new OriginalKeeper(keepMs, dependencies);
    keepers.set(keepMs, keeper);
    return keeper;
  };
}

export function encryptOriginals(originals: readonly Original[], encryptor: Pick<Encryptor, "encrypt">): Uint8Array {
  return encryptor.encrypt(compress(encodeOriginals(originals)), ORIGINALS_CONTEXT);
}

/** As `encryptOriginals`; the compression holds up no callback. */
export async function encryptOriginalsAside(
  originals: readonly Original[],
  encryptor: Pick<Encryptor, "encrypt">,
): Promise<Uint8Array> {
  return encryptor.encrypt(await compressAside(encodeOriginals(originals)), ORIGINALS_CONTEXT);
}

export function decryptOriginals(encrypted: Uint8Array, encryptor: Pick<Encryptor, "decrypt">): Original[] {
  return decodeOriginals(decompress(encryptor.decrypt(encrypted, ORIGINALS_CONTEXT)));
}

/**
 * Blocks of the originals of these events. An event without an original is in none of them.
 * @param compressedFrom how many bytes are compressed now; what is not is compressed when it is merged with others
 */
export function sealOriginals<Event extends KeptEvent>(
  events: readonly Event[],
  compressedFrom = COMPRESSED_FROM,
): SealedBlock<Event>[] {
  const sealed: SealedBlock<Event>[] = [];
  for (const [keeper, kept] of Map.groupBy(events, ({ completion }) => completion.original?.keeper)) {
    if (keeper === undefined) continue;
    for (const part of parts(kept)) {
      const block = keeper.seal(part, compressedFrom);
      if (block !== undefined) sealed.push({ block, events: part });
    }
  }
  return sealed;
}

/** @returns undefined where it is not kept */
export function sealOriginal(
  record: KeptEvent["record"],
  original: OriginalRequest | undefined,
): (NewBlock & { readonly keeper: OriginalKeeper }) | undefined {
  const [sealed] = original === undefined ? [] : sealOriginals([{ record, completion: { original } }], 0);
  return sealed && original && { ...sealed.block, keeper: original.keeper };
}

/**
 * Keeps no originals for a minute after an error of their table. The events can run again without them then.
 * @returns whether the error is one
 */
export function pauseAfterError(error: unknown, keepers: Iterable<OriginalKeeper | undefined>): boolean {
  if (!(error instanceof Error && error.message.includes(TABLE))) return false;
  for (const keeper of new Set(keepers)) keeper?.pause(error);
  return true;
}

function* parts<Event extends KeptEvent>(events: readonly Event[]): Generator<readonly Event[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, { completion }] of events.entries()) {
    bytes += completion.original?.body.length ?? 0;
    if (bytes < BLOCK_BYTES) continue;
    yield events.slice(start, index + 1);
    [start, bytes] = [index + 1, 0];
  }
  if (start < events.length) yield start === 0 ? events : events.slice(start);
}

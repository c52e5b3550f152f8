import type { EventKey, Log } from "../../src/domain/index.ts";
import { historyOf } from "../../src/retry/backfill-history.ts";
import {
  createOriginalKeepers,
  decryptOriginals,
  type Original,
  type OriginalRequest,
  type Store,
} from "../../src/store/index.ts";
import { createEncryptor, type Encryptor, systemClock } from "../../src/system/index.ts";
import { rowsOf } from "./effects.ts";
import type { Target } from "./open-target.ts";

const DAY_MS = 86_400_000;

/** Makes the requests of events whose originals are kept for a day. */
export function originalsKeeper({ keepMs = DAY_MS, encryptor = createEncryptor(Buffer.alloc(32, 7)) } = {}) {
  const errors: string[] = [];
  const note = (_fields: unknown, message: string): void => void errors.push(message);
  const log = { error: note, warn: note, info: note, debug: note } as unknown as Log;
  const keeper = createOriginalKeepers({ encryptor, clock: systemClock, log })(keepMs);
  if (keeper === undefined) throw new TypeError("a test keeps originals for more than no time");
  const keep = (eventId: string, over: Partial<OriginalRequest> = {}): OriginalRequest => ({
    receivedAt: new Date(),
    method: "POST",
    target: `/api/platform/callback?of=${eventId}`,
    rawHeaders: ["Host", "example.com", "X-Repeated", "one", "x-repeated", "two"],
    body: Buffer.from(JSON.stringify({ event_id: eventId })),
    keeper,
    ...over,
  });
  return { keep, keeper, encryptor, errors };
}

/** The original of an event, wherever it stands; by default under the key of test receivers. */
export async function originalOf(
  target: Target,
  key: EventKey,
  encryptor: Pick<Encryptor, "decrypt"> = createEncryptor(Buffer.alloc(32, 7)),
): Promise<Original | undefined> {
  const rows = await rowsOf(target, "SELECT encrypted_block AS encrypted FROM oncehook_originals");
  const originals = rows.flatMap(({ encrypted }) => decryptOriginals(encrypted as Uint8Array, encryptor));
  return originals.find((one) => one.source === key.source && one.eventId === key.eventId);
}

/** The originals of a source that came since then, in the order in which a backfill reads them. */
export async function historyIn(
  store: Store,
  encryptor: Pick<Encryptor, "decrypt">,
  { since = new Date(0), source = "platform" } = {},
): Promise<Original[]> {
  const until = new Date("9999-01-01T00:00:00.000Z");
  const range = { source, type: undefined, since, originalsSince: since, until };
  const found: Original[] = [];
  for await (const item of historyOf(range, { phase: "originals" }, { store, encryptor, now: new Date() }))
    if (item.kind === "original") found.push(item.original);
  return found;
}

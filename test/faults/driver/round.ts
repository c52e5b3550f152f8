import { rowsOf } from "../../support/effects.ts";
import type { Target } from "../../support/open-target.ts";
import { SECRET } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { type Audit, audit } from "./audit.ts";
import { Book } from "./book.ts";
import type { Chance } from "./chance.ts";
import { Fleet, type FleetOptions } from "./fleet.ts";
import { Platform, type PlatformRules } from "./platform.ts";

export interface Fire extends FleetOptions {
  readonly target: Target;
  readonly chance: Chance;
  /** The type of all events; it says which handler they meet. */
  readonly type?: string;
  readonly platform?: Omit<PlatformRules, "origins">;
  /** The addresses the platform calls, where they are not the receivers' own. */
  readonly origins?: (fleet: Fleet) => readonly string[];
  /** Whoever ends by itself is started again, as a service manager does. */
  readonly isKeptUp?: boolean;
  /** How long everything may take to come to rest. */
  readonly settleMs?: number;
}

export interface UnderFire {
  readonly fleet: Fleet;
  readonly book: Book;
  readonly chance: Chance;
}

/**
 * Starts receivers, has the platform send all the time, does `harm` to them, lets everything come to rest, and holds the
 * database against the platform's book.
 */
export async function underFire(fire: Fire, harm: (round: UnderFire) => Promise<void>): Promise<Audit> {
  const { target, chance, type = "ledger_posting" } = fire;
  const book = new Book(`e${chance.below(1e9).toString(36)}`, type, SECRET);
  const fleet = await Fleet.start(target, fire);
  const manager = fire.isKeptUp === true ? fleet.keepUp() : undefined;
  try {
    const origins = fire.origins?.(fleet) ?? fleet.origins;
    const platform = new Platform({ connections: 32, ...fire.platform, origins }, book, chance.fork());
    let isOver = false;
    const sending = platform.run(() => !isOver, fire.settleMs);
    // It is awaited below; until then a failure of it is nobody's surprise.
    sending.catch(() => {});
    try {
      await harm({ fleet, book, chance });
    } finally {
      isOver = true;
    }
    await sending;
    await failuresSettled(target);
    await manager?.end();
    await fleet.stopAll();
    return await audit(target, book);
  } finally {
    await manager?.end().catch(() => {});
    await fleet.destroy();
  }
}

const LEFT_BEHIND = `SELECT f.event_id FROM oncehook_failures f
  JOIN oncehook_records r ON r.event_id = f.event_id AND r.source = f.source`;

/** An event whose COMMIT lost its answer may be kept as a failure until its retry finds the record; the audit judges what is left. */
function failuresSettled(target: Target): Promise<void> {
  return until(async () => (await rowsOf(target, LEFT_BEHIND)).length === 0, SETTLING_MS).catch(() => {});
}
const SETTLING_MS = 20_000;

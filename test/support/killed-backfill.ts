import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { NO_BACKFILL_COUNTS, type Store } from "../../src/store/index.ts";
import { createEncryptor } from "../../src/system/index.ts";
import { withStoreBeside } from "./beside.ts";
import { startChild } from "./child.ts";
import { countOf, EFFECTS, rowsOf } from "./effects.ts";
import { logRow } from "./log-row.ts";
import type { Target } from "./open-target.ts";
import { originalsKeeper } from "./originals.ts";
import { startReceiver } from "./receiver.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";
import { deliverToShop, shop } from "./shop-source.ts";

/** Leases of a process that was killed last a few seconds. */
export const KILLED_BACKFILL = {
  ...CHILD_ENVIRONMENT,
  ...{ PORT: "0", ADMIN_PORT: "0", HANDLER_TIMEOUT_MS: "500", REQUEST_TIMEOUT_MS: "1000" },
  ...{ RATE_LIMIT_CALLBACK: "1000000/minute", RATE_LIMIT_DEFAULT: "1000000/minute" },
};

export interface KilledBackfill {
  /** Stored events that no handler took, before the handler was added. */
  readonly events: number;
  readonly kills: number;
  readonly perSecond: number;
  readonly log?: (line: string) => void;
}

const PER_ROW = 200;
const idOf = (index: number) => `evt_${index}`;

/** What a run left: nothing is lost or doubled where all three are 0. */
export interface KilledBackfillResult {
  readonly counts: typeof NO_BACKFILL_COUNTS;
  readonly live: number;
  readonly redelivered: number;
  readonly withoutEffect: number;
  readonly doubled: number;
  readonly failures: number;
}

/**
 * A backfill of stored events, while live events and redeliveries of the stored ones arrive. Its process is killed again and
 * again, and started again.
 */
export async function runKilledBackfill(target: Target, run: KilledBackfill): Promise<KilledBackfillResult> {
  const { events, kills, perSecond, log = () => {} } = run;
  await seed(target, events);
  const asked = { handler: "shop", eventType: null, since: new Date(0).toISOString(), includesFormer: false };
  const { id } = await withStoreBeside(target, ({ backfills }) =>
    backfills.create({ ...asked, perSecond, createdBy: "test" }, new Date()),
  );
  const platform = new Platform(events);
  const done = async () => {
    const [row] = await rowsOf(target, `SELECT counts, position FROM oncehook_backfills WHERE id = ${id}`);
    const counts = { ...NO_BACKFILL_COUNTS, ...JSON.parse(String(row?.counts)) };
    return { counts, isOver: JSON.parse(String(row?.position)).phase === "late" };
  };
  for (let killed = 0; killed <= kills; killed += 1) {
    const child = startChild("test/support/backfill-receiver-child.ts", [target.url]);
    try {
      platform.deliverTo(await originOf(child));
      const goal = (events * (killed + 1)) / (kills + 1);
      const isThere = async () => {
        const { counts, isOver } = await done();
        if (killed < kills) return counts.accepted + counts.alreadyTaken >= goal;
        return isOver && (await countOf(target, "oncehook_failures")) === 0;
      };
      while (!(await isThere())) await sleep(20);
      log(`${killed < kills ? `kill ${killed + 1}` : "the end"} at ${JSON.stringify((await done()).counts)}`);
    } finally {
      const isAlive = child.exitCode === null && child.signalCode === null;
      const closed = isAlive ? once(child, "close") : undefined;
      child.kill("SIGKILL");
      await closed;
      await platform.pause();
    }
  }
  const { counts } = await done();
  return { counts, ...(await effectsOf(target, platform, events)) };
}

async function effectsOf(target: Target, platform: Platform, events: number) {
  const rows = await rowsOf(target, "SELECT event_id, count(*) AS n FROM effects GROUP BY event_id");
  const effects = new Map(rows.map(({ event_id, n }) => [String(event_id), Number(n)]));
  const expected = [...Array.from({ length: events }, (_, index) => idOf(index)), ...platform.acknowledged];
  return {
    live: platform.acknowledged.size,
    redelivered: platform.redelivered,
    withoutEffect: expected.filter((one) => !effects.has(one)).length,
    doubled: [...effects.values()].filter((count) => count > 1).length,
    failures: await countOf(target, "oncehook_failures"),
  };
}

/** Events of a type without a handler, as the log stores them. */
async function seed(target: Target, events: number): Promise<void> {
  const receiver = await startReceiver(target, {
    env: KILLED_BACKFILL,
    sources: { shop: shop() },
    migrations: [EFFECTS],
  });
  await receiver.stop();
  const { keep } = originalsKeeper({ encryptor: createEncryptor(Buffer.alloc(32, 7)) });
  await withStoreBeside(target, async (store: Store) => {
    for (let from = 0; from < events; from += PER_ROW) {
      const rows = Array.from({ length: Math.min(PER_ROW, events - from) }, (_, index) => {
        const key = { source: "shop", eventId: idOf(from + index) };
        const body = Buffer.from(
          JSON.stringify({ type: "order", id: key.eventId, time: 1_700_000_000, note: "stored" }),
        );
        const original = keep(key.eventId, { target: "/api/shop/callback", body });
        const unhandled = { record: { ...key, eventType: "order", version: "v1" }, completion: { original } };
        return { ...logRow({ ...key, eventType: "order", outcome: "ignored" }), unhandled };
      });
      await store.appendCallbacks(rows);
    }
  });
}

async function originOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error("the receiver ended before it listened");
}

/** Sends live events and stored ones again, one after the other, and keeps what was acknowledged. */
class Platform {
  readonly acknowledged = new Set<string>();
  redelivered = 0;
  readonly #events: number;
  #sent = 0;
  #sending: Promise<void> = Promise.resolve();
  #isPaused = true;

  constructor(events: number) {
    this.#events = events;
  }

  deliverTo(publicOrigin: string): void {
    this.#isPaused = false;
    this.#sending = this.#deliver(publicOrigin);
  }

  /** Resolves when nothing is under way. What was under way as its receiver was killed is sent again. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#sending;
  }

  async #deliver(publicOrigin: string): Promise<void> {
    while (!this.#isPaused) {
      this.#sent += 1;
      const isLive = this.#sent % 2 === 0;
      const id = isLive ? `live_${this.#sent}` : idOf((this.#sent * 7_919) % this.#events);
      const event = isLive ? { id, time: 1_700_000_001 } : { id, time: 1_700_000_000, note: "stored" };
      const answer = await deliverToShop({ publicOrigin }, event).catch(() => undefined);
      if (answer?.status === 200 && isLive) this.acknowledged.add(id);
      if (answer?.status === 200 && !isLive) this.redelivered += 1;
      await sleep(5);
    }
  }
}

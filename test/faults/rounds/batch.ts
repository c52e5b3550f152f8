import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import type { Dialect, Target } from "../../support/open-target.ts";
import { SECRET } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { type Audit, audit } from "../driver/audit.ts";
import { Book } from "../driver/book.ts";
import type { Chance } from "../driver/chance.ts";
import { Fleet } from "../driver/fleet.ts";
import { inParts } from "./in-parts.ts";
import type { Ran, Round } from "./round.ts";

/** Events of one callback. */
const ITEMS = 1_000;
/** A little less than a batch takes, from its first byte to its response. */
const KILL_WITHIN_MS = 400;
/** From a delivery that failed to the next one. */
const PAUSE_MS = 100;
const LIMIT_MS = 60_000;

/**
 * Callbacks of a thousand events, as SendGrid sends them, to a receiver that is killed while it works on them. The
 * platform delivers each whole batch again until it gets success, and then sends another: each event has one effect.
 */
export function batches(dialect: Dialect, full: number): Round {
  return {
    name: `batch-${dialect}`,
    title: `kill -9 within callbacks of ${ITEMS.toLocaleString("en")} events, ${dialect}`,
    full,
    short: 3,
    run: async (place): Promise<Ran> => {
      const platforms: BatchPlatform[] = [];
      const ran = await inParts(place, (kills) =>
        place.withTarget(dialect, (target) => {
          const platform = new BatchPlatform(place.chance.fork());
          platforms.push(platform);
          return killed(target, platform, kills, place.chance.fork());
        }),
      );
      const sum = (of: "batches" | "cut") => platforms.reduce((total, platform) => total + platform[of], 0);
      return { ...ran, figures: { batches: sum("batches"), "deliveries that were cut": sum("cut") } };
    },
  };
}

async function killed(target: Target, platform: BatchPlatform, kills: number, chance: Chance): Promise<Audit> {
  const fleet = await Fleet.start(target, { env: { LEDGER_MAIL_KEY: platform.publicKey } });
  try {
    let isOver = false;
    const sending = platform.run(fleet.origins[0] ?? "", () => isOver);
    // It is awaited below.
    sending.catch(() => {});
    for (let kill = 0; kill < kills; kill += 1) {
      const { deliveries } = platform;
      await until(() => platform.deliveries > deliveries, LIMIT_MS);
      await sleep(chance.between(0, KILL_WITHIN_MS));
      await fleet.kill(0);
      await fleet.up(0);
    }
    isOver = true;
    await sending;
    await fleet.stopAll();
    return await audit(target, platform.book);
  } finally {
    await fleet.destroy();
  }
}

/** Sends one batch after the other, each until it has succeeded. */
class BatchPlatform {
  readonly book: Book;
  readonly publicKey: string;
  readonly #privateKey: KeyObject;
  batches = 0;
  deliveries = 0;
  /** Deliveries without a response, after the connection was there. */
  cut = 0;

  constructor(chance: Chance) {
    this.book = new Book(`b${chance.below(1e9).toString(36)}`, "ledger_posting", SECRET);
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.publicKey = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    this.#privateKey = privateKey;
  }

  /** @throws Error where a batch does not succeed in time, or is refused */
  async run(origin: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const numbers = Array.from({ length: ITEMS }, () => this.book.open().number);
      const body = Buffer.from(JSON.stringify(numbers.map((number) => this.#item(number))));
      const end = performance.now() + LIMIT_MS;
      while (!(await this.#deliver(origin, numbers, body))) {
        if (performance.now() > end) throw new Error(`a batch had no success within ${LIMIT_MS} ms`);
        await sleep(PAUSE_MS);
      }
      for (const number of numbers) this.book.acknowledge(number);
      this.batches += 1;
    }
  }

  #item(number: number): object {
    const { book } = this;
    const entry = book.entryOf(number);
    return { sg_event_id: book.idOf(number), timestamp: 1_767_225_600, event: book.type, ...entry };
  }

  /** @returns whether the batch succeeded */
  async #deliver(origin: string, numbers: readonly number[], body: Buffer): Promise<boolean> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signed = sign("sha256", Buffer.concat([Buffer.from(timestamp), body]), this.#privateKey);
    const headers = {
      "content-type": "application/json",
      "x-twilio-email-event-webhook-timestamp": timestamp,
      "x-twilio-email-event-webhook-signature": signed.toString("base64"),
    };
    this.deliveries += 1;
    for (const number of numbers) this.book.sending(number);
    try {
      const response = await request(`${origin}/api/mail/callback`, { method: "POST", headers, body });
      const text = await response.body.text();
      if (response.statusCode === 200) return true;
      if (response.statusCode < 500) throw new Refused(`a batch was answered ${response.statusCode} ${text}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
      if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") this.cut += 1;
    }
    return false;
  }
}

class Refused extends Error {
  override readonly name = "Refused";
}

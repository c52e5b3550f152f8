import { createHash, createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import type { Dialect, Target } from "../../support/open-target.ts";
import { SECRET } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { audit } from "../driver/audit.ts";
import { Book, type Entry } from "../driver/book.ts";
import type { Chance } from "../driver/chance.ts";
import { Fleet } from "../driver/fleet.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

/** How long the step `prepare` takes, in which many processes are killed. */
const OUTSIDE_MS = 40;
const KILL_WITHIN_MS = 250;
const SENDERS = 4;
const PAUSE_MS = 50;
const LIMIT_MS = 60_000;
/**
 * From the last restart on. A kill in `prepare` leaves its lease of 20 s, which other deliveries wait for: the handler's
 * time limit and a margin. A busy machine adds some seconds.
 */
const SUCCESS_WITHIN_MS = 30_000;

/**
 * Two platforms whose ids and bytes do not agree, while receivers are killed: Wise sends each retry under a new id and
 * at a new `sent_at`, and GitHub sends equal bytes for different events. Each event has one effect, and every retry ends
 * in success.
 */
export function attemptIds(dialect: Dialect, full: number): Round {
  return {
    name: `attempt-ids-${dialect}`,
    title: `kill -9 under retries with new ids, and equal bodies under new ids, ${dialect}`,
    full,
    short: 2,
    run: (place) =>
      inParts(place, (kills) => place.withTarget(dialect, (target) => killed(target, kills, place.chance.fork()))),
  };
}

async function killed(target: Target, kills: number, chance: Chance) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = publicKey.export({ format: "pem", type: "spki" }).toString();
  const env = { LEDGER_CODE: "yes", LEDGER_TRANSFERS_KEY: key, LEDGER_OUTSIDE_MS: String(OUTSIDE_MS) };
  const fleet = await Fleet.start(target, { env });
  const origin = fleet.origins[0] ?? "";
  const transfers = new TransferBook(`w${chance.below(1e9).toString(36)}`, "ledger_outside", SECRET);
  const members = new EqualBook(`g${chance.below(1e9).toString(36)}`, "ledger_posting", SECRET);
  const sendTransfer = (number: number) => {
    const body = Buffer.from(JSON.stringify({ ...transfers.contentOf(number), sent_at: new Date().toISOString() }));
    const signature = sign("sha256", body, privateKey).toString("base64");
    const headers = { "x-signature-sha256": signature, "x-delivery-id": randomUUID() };
    return deliver(`${origin}/api/transfers/callback`, headers, body);
  };
  const sendMember = (number: number) => {
    const body = Buffer.from(JSON.stringify(members.entryOf()));
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const own = { "x-github-event": members.type, "x-github-delivery": members.idOf(number) };
    return deliver(`${origin}/api/code/callback`, { ...own, "x-hub-signature-256": `sha256=${signature}` }, body);
  };
  try {
    let isOver = false;
    let restartedAt = 0;
    const state = () => ({ isOver, restartedAt });
    const senders = Array.from({ length: SENDERS }, () => [
      sendAll(transfers, sendTransfer, state),
      sendAll(members, sendMember, state),
    ]).flat();
    const sending = Promise.all(senders);
    // It is awaited below.
    sending.catch(() => {});
    for (let kill = 0; kill < kills; kill += 1) {
      const { acknowledged } = transfers;
      await until(() => transfers.acknowledged > acknowledged, LIMIT_MS);
      await sleep(chance.between(0, KILL_WITHIN_MS));
      await fleet.kill(0);
      await fleet.up(0);
      restartedAt = performance.now();
    }
    isOver = true;
    await sending;
    await fleet.stopAll();
    const audits = [await audit(target, transfers), await audit(target, members)] as const;
    const [ofTransfers, ofMembers] = audits;
    return {
      events: ofTransfers.events + ofMembers.events,
      deliveries: ofTransfers.deliveries + ofMembers.deliveries,
      acknowledged: ofTransfers.acknowledged + ofMembers.acknowledged,
      lost: ofTransfers.lost + ofMembers.lost,
      doubled: ofTransfers.doubled + ofMembers.doubled,
      faults: [...new Set(audits.flatMap(({ faults }) => faults))],
    };
  } finally {
    await fleet.destroy();
  }
}

export interface SendingState {
  readonly isOver: boolean;
  /** Of the receiver, by the monotonic clock; 0 before the first kill. */
  readonly restartedAt: number;
}

/** Sends one event after the other, each until it has succeeded. @throws Error where one does not in time */
export async function sendAll(book: Book, send: (number: number) => Promise<boolean>, state: () => SendingState) {
  while (!state().isOver) {
    const { number } = book.open();
    const openedAt = performance.now();
    book.sending(number);
    while (!(await send(number))) {
      const since = performance.now() - Math.max(openedAt, state().restartedAt);
      if (since > SUCCESS_WITHIN_MS)
        throw new Error(`an event had no success within ${SUCCESS_WITHIN_MS} ms of the last restart`);
      await sleep(PAUSE_MS);
      book.sending(number);
    }
    book.acknowledge(number);
  }
}

/** @returns whether it succeeded; no answer, overload and a fault are reasons to send it again */
export async function deliver(url: string, own: Record<string, string>, body: Buffer): Promise<boolean> {
  try {
    const headers = { "content-type": "application/json", ...own };
    const response = await request(url, { method: "POST", headers, body });
    const text = await response.body.text();
    if (response.statusCode === 200) return true;
    if (response.statusCode < 500) throw new Refused(`an event was answered ${response.statusCode} ${text}`);
  } catch (error) {
    if (error instanceof Refused) throw error;
  }
  return false;
}

class Refused extends Error {
  override readonly name = "Refused";
}

/** Events of Wise, whose key is the hash of their bytes without `sent_at`. */
class TransferBook extends Book {
  readonly #numbers = new Map<string, number>();
  readonly #name: string;

  constructor(name: string, type: string, secret: string) {
    super(name, type, secret);
    this.#name = name;
  }

  contentOf(number: number): object {
    const data = { ...this.entryOf(number), resource: `${this.#name}-${number}` };
    return { data, subscription_id: this.#name, event_type: this.type };
  }

  override idOf(number: number): string {
    const id = createHash("sha256")
      .update(JSON.stringify(this.contentOf(number)))
      .digest("hex");
    this.#numbers.set(id, number);
    return id;
  }

  override numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }
}

/** Events of equal bytes. */
class EqualBook extends Book {
  override entryOf(): Entry {
    return super.entryOf(7);
  }
}

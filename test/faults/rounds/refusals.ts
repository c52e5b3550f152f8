import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { countOf } from "../../support/effects.ts";
import type { Dialect, Target } from "../../support/open-target.ts";
import { SECRET, TOKEN } from "../../support/secrets.ts";
import { until } from "../../support/until.ts";
import { audit } from "../driver/audit.ts";
import { Book } from "../driver/book.ts";
import type { Chance } from "../driver/chance.ts";
import { Fleet } from "../driver/fleet.ts";
import { deliver, sendAll } from "./attempt-ids.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

const KILL_WITHIN_MS = 250;
const SENDERS = 4;
const LIMIT_MS = 60_000;

/**
 * GitHub sends events while receivers are killed, and the schema refuses every second one. Each is acknowledged. The
 * schema is mended, and one bulk replay, in which receivers are killed too, gives each event its one effect.
 */
export function refusals(dialect: Dialect, full: number): Round {
  return {
    name: `refusals-${dialect}`,
    title: `kill -9 under a schema that refuses every second event and is mended, ${dialect}`,
    full,
    short: 4,
    run: (place) =>
      inParts(place, (kills) => place.withTarget(dialect, (target) => refused(target, kills, place.chance.fork()))),
  };
}

async function refused(target: Target, kills: number, chance: Chance) {
  const fleet = await Fleet.start(target, { env: { LEDGER_CODE: "yes", ADMIN_TOKEN: TOKEN } });
  const refusing = { LEDGER_REFUSES: "yes" };
  const book = new Book(`r${chance.below(1e9).toString(36)}`, "ledger_posting", SECRET);
  const send = (number: number) => {
    const body = Buffer.from(JSON.stringify(book.entryOf(number)));
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const own = { "x-github-event": book.type, "x-github-delivery": book.idOf(number) };
    const headers = { ...own, "x-hub-signature-256": `sha256=${signature}` };
    return deliver(`${fleet.origins[0]}/api/code/callback`, headers, body);
  };
  const restart = async (env?: Record<string, string>) => {
    await sleep(chance.between(0, KILL_WITHIN_MS));
    await fleet.kill(0);
    return fleet.up(0, env);
  };
  try {
    await restart(refusing);
    let isOver = false;
    let restartedAt = 0;
    const state = () => ({ isOver, restartedAt });
    const sending = Promise.all(Array.from({ length: SENDERS }, () => sendAll(book, send, state)));
    // It is awaited below.
    sending.catch(() => {});
    for (let kill = 0; kill < kills; kill += 1) {
      const { acknowledged } = book;
      await until(() => book.acknowledged > acknowledged + 2, LIMIT_MS);
      await restart(refusing);
      restartedAt = performance.now();
    }
    isOver = true;
    await sending;
    const rejected = await countOf(target, "oncehook_failures", "state = 'rejected'");
    const { adminUrl } = await restart();
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({ filter: { state: "rejected" }, per_second: 100 });
    const started = await request(`${adminUrl}/api/v1/bulk-replays`, { method: "POST", headers, body });
    if (started.statusCode !== 201) throw new Error(`no bulk replay: ${await started.body.text()}`);
    await started.body.dump();
    await restart();
    await until(async () => (await countOf(target, "oncehook_failures")) === 0, LIMIT_MS);
    await fleet.stopAll();
    const audited = await audit(target, book);
    const faults = rejected === 0 ? [...audited.faults, "no event was rejected"] : audited.faults;
    return { ...audited, faults };
  } finally {
    await fleet.destroy();
  }
}

import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { countOf } from "../../support/effects.ts";
import { until } from "../../support/until.ts";
import { call, strayEvent } from "../driver/call.ts";
import { goesOn } from "../driver/goes-on.ts";
import { type UnderFire, underFire } from "../driver/round.ts";
import type { Place, Ran, Round } from "./round.ts";

/** Callbacks go on while a crowd stands in the doorway. */
interface Crowd {
  readonly name: string;
  readonly title: string;
  readonly full: number;
  readonly short: number;
  readonly env?: Record<string, string>;
  /** @returns what went wrong */
  readonly come: (round: UnderFire & { readonly place: Place; readonly origin: URL }) => Promise<string[]>;
}

function crowd({ name, title, full, short, env = {}, come }: Crowd): Round {
  return {
    name,
    title,
    full,
    short,
    run: (place) =>
      place.withTarget("sqlite", async (target): Promise<Ran> => {
        const faults: string[] = [];
        const fire = { target, chance: place.chance.fork(), env, platform: { connections: 8, rate: 100 } };
        const audit = await underFire(fire, async (round) => {
          const origin = new URL(round.fleet.origins[0] ?? "");
          faults.push(...(await come({ ...round, place, origin })));
        });
        const rows = await countOf(target, "oncehook_callbacks", "event_id IS NULL");
        if (rows > MAX_UNSIGNED) faults.push(`${rows} rows of the log are of requests that nobody signed`);
        return { count: place.count, audits: [audit], faults };
      }),
  };
}

/** The log keeps so many requests that never came to an event, and what one minute brings on top. */
const MAX_UNSIGNED = 12_000;
/** So many callbacks are acknowledged while the crowd is there. */
const CALLBACKS = 50;
/** Connections at a time while they are opened. */
const AT_ONCE = 200;

async function joined(origin: URL): Promise<Socket> {
  const socket = connect(Number(origin.port), origin.hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

async function joinAll(origin: URL, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const most = Math.min(AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: most }, () => joined(origin)))));
  }
  return sockets;
}

const idle = crowd({
  name: "idle",
  title: "idle connections",
  full: 10_000,
  short: 500,
  async come(round) {
    const { place, origin, fleet } = round;
    const files = (): number => readdirSync(`/proc/${fleet.pid(0)}/fd`).length;
    const before = files();
    const sockets = await joinAll(origin, place.count);
    await goesOn(round.book, CALLBACKS);
    for (const socket of sockets) socket.destroy();
    await until(() => files() <= before + 50);
    return [];
  },
});

const REQUEST = "POST /api/platform/callback HTTP/1.1\r\nhost: oncehook\r\n";
const LIMIT_MS = 2_000;

/** They send a byte now and then, and never come to an end: half of them in the headers, half in the body. */
const slow = crowd({
  name: "slow",
  title: "slow-loris connections, in the headers and in the body",
  full: 2_000,
  short: 100,
  env: { REQUEST_TIMEOUT_MS: String(LIMIT_MS), HANDLER_TIMEOUT_MS: "1000" },
  async come(round) {
    const { place, origin } = round;
    const sockets = await joinAll(origin, place.count);
    let open = sockets.length;
    for (const [index, socket] of sockets.entries()) {
      socket.resume();
      socket.once("close", () => (open -= 1));
      socket.write(index % 2 === 0 ? REQUEST : `${REQUEST}content-length: 1000\r\n\r\n`);
    }
    const dripping = setInterval(() => {
      for (const [index, socket] of sockets.entries()) {
        if (socket.writable) socket.write(index % 2 === 0 ? "x-drip: 1\r\n" : "x");
      }
    }, 250);
    try {
      await goesOn(round.book, CALLBACKS);
      // Node looks at its connections every so often; see `connectionsCheckingInterval`.
      await until(() => open === 0, LIMIT_MS + 40_000);
      return [];
    } finally {
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    }
  },
});

const forged = crowd({
  name: "forged",
  title: "callbacks with a bad signature",
  full: 200_000,
  short: 2_000,
  async come(round) {
    const { place, origin } = round;
    const faults: string[] = [];
    let sent = 0;
    const forge = async (): Promise<void> => {
      while (sent < place.count) {
        sent += 1;
        const { status } = await call(origin.origin, strayEvent(`forged-${sent}`, "ledger_posting"), "not-the-secret");
        if (status !== 401) faults.push(`a forgery was answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: 32 }, forge));
    await goesOn(round.book, CALLBACKS);
    return faults.slice(0, 5);
  },
});

export const CROWD_ROUNDS = [idle, slow, forged];

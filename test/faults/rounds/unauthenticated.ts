import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { call, strayEvent } from "../driver/call.ts";
import { goesOn } from "../driver/goes-on.ts";
import { type UnderFire, underFire } from "../driver/round.ts";
import type { Ran, Round } from "./round.ts";

/** What unauthenticated senders may make the process hold, and how long an authentic callback may take meanwhile. */
const MAX_GROWTH_MB = 200;
const MAX_MS = 2_000;
const BODY = 1_048_576;
/** The platform's own callbacks that are acknowledged while unauthenticated senders are there. */
const CALLBACKS = 50;
const WARM_UP = 500;
const AT_ONCE = 100;
const CHUNK = Buffer.alloc(65_536, "x");
/** A connection that breaks the rules is closed within so long. */
const CLOSED_MS = 5_000;
const PIPELINED = Buffer.from("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2_400));
/** Refused before its body is read. */
const WITH_BODY = "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
/** The first one alone: a new connection waits, and what is behind it comes when the response to it is out. */
const PIPELINED_BODIES = [WITH_BODY, WITH_BODY.repeat(1_200)].map((text) => Buffer.from(text));
const CHUNKED = "POST /api/platform/callback HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
const BYTE_BY_BYTE = Buffer.from(`${CHUNKED}${"1\r\nx\r\n".repeat(100_000)}`);

interface Crowd {
  readonly count: number;
  /** All of each body is sent but for its last byte; none where the connections stay silent. */
  readonly bodyBytes?: number;
  /** Written at once, the second part after the first response; the receiver closes connections that do so. */
  readonly writes?: readonly Buffer[];
  /** They read nothing of the responses. */
  readonly isUnread?: boolean;
  readonly isOneAddress?: boolean;
}

interface Found {
  growthMb: number;
  slowestMs: number;
  readonly faults: string[];
}

type Named = Pick<Round, "name" | "title" | "full" | "short">;

/** @param crowds one after the other, each gone before the next one comes */
function unauthenticatedRound(
  named: Named,
  crowds: (count: number) => Readonly<Record<string, Crowd>>,
  env: Record<string, string> = {},
): Round {
  return {
    ...named,
    run: (place) =>
      place.withTarget("sqlite", async (target): Promise<Ran> => {
        const fire = { target, chance: place.chance.fork(), env, platform: { connections: 8, rate: 100 } };
        const faults: string[] = [];
        const figures: Record<string, string> = {};
        const audit = await underFire(fire, async (round) => {
          await goesOn(round.book, place.count === named.short ? CALLBACKS : WARM_UP, 60_000);
          const quiet = filesOf(round.fleet);
          for (const [title, crowd] of Object.entries(crowds(place.count))) {
            const found = await crowded(round, crowd, quiet);
            figures[`${title}: RSS growth in MB`] = found.growthMb.toFixed(0);
            figures[`${title}: slowest authentic callback in ms`] = found.slowestMs.toFixed(0);
            faults.push(...found.faults.map((fault) => `${title}: ${fault}`));
          }
        });
        return { count: place.count, audits: [audit], figures, faults };
      }),
  };
}

async function crowded({ fleet, book }: UnderFire, crowd: Crowd, quiet: number): Promise<Found> {
  const { count, isOneAddress = false, writes } = crowd;
  const found: Found = { growthMb: 0, slowestMs: 0, faults: [] };
  const origin = new URL(fleet.origins[0] ?? "");
  const before = rssMb(fleet.pid(0));
  const sockets: Socket[] = [];
  const watch = setInterval(() => {
    found.growthMb = Math.max(found.growthMb, rssMb(fleet.pid(0)) - before);
  }, 50);
  const state = { isOver: false };
  const calling = authentic(origin.origin, state, found);
  try {
    while (sockets.length < count) {
      const most = Math.min(AT_ONCE, count - sockets.length);
      const joining = Array.from({ length: most }, (_, at) =>
        unauthenticatedSender(origin, isOneAddress ? "127.0.0.2" : addressOf(sockets.length + at), crowd),
      );
      sockets.push(...(await Promise.all(joining)));
    }
    await goesOn(book, CALLBACKS);
    if (writes !== undefined)
      await until(() => filesOf(fleet) < quiet + count / 2, CLOSED_MS).catch(() => {
        found.faults.push(`after ${CLOSED_MS} ms ${filesOf(fleet) - quiet} of ${count} connections are open`);
      });
  } finally {
    state.isOver = true;
    await calling;
    clearInterval(watch);
    for (const socket of sockets) socket.destroy();
  }
  if (found.growthMb > MAX_GROWTH_MB) found.faults.push(`RSS grew by ${found.growthMb.toFixed(0)} MB`);
  if (found.slowestMs > MAX_MS) found.faults.push(`an authentic callback took ${found.slowestMs.toFixed(0)} ms`);
  return found;
}

/** Callbacks of a connection of their own each, one after the other, for as long as the crowd is there. */
async function authentic(origin: string, state: { readonly isOver: boolean }, found: Found): Promise<void> {
  for (let number = 0; !state.isOver; number += 1) {
    const begun = performance.now();
    const event = strayEvent(`among-unsigned-${number}`, "ledger_posting_of_nobody");
    const { status } = await call(origin, event);
    // It has no handler here: 400 says that it was verified.
    if (status !== 400) found.faults.push(`an authentic callback got ${status}`);
    found.slowestMs = Math.max(found.slowestMs, performance.now() - begun);
    await sleep(20);
  }
}

async function unauthenticatedSender(
  origin: URL,
  localAddress: string,
  { bodyBytes = 0, writes = [], isUnread = false }: Crowd,
): Promise<Socket> {
  const socket = connect({ port: Number(origin.port), host: origin.hostname, localAddress });
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  for (const [at, part] of writes.entries()) {
    if (at > 0) await Promise.race([once(socket, "data"), once(socket, "close")]);
    socket.write(part);
  }
  if (!isUnread) socket.resume();
  if (bodyBytes === 0) return socket;
  socket.write(`POST /api/platform/callback HTTP/1.1\r\nhost: x\r\ncontent-length: ${bodyBytes}\r\n\r\n`);
  // One piece for all of them: what the kernel does not take waits here, and costs the receiver nothing.
  const closed = once(socket, "close");
  for (let left = bodyBytes - 1; left > 0 && socket.writable; left -= CHUNK.length) {
    const piece = CHUNK.subarray(0, Math.min(left, CHUNK.length));
    await Promise.race([new Promise((resolve) => void socket.write(piece, resolve)), closed]);
  }
  return socket;
}

function addressOf(number: number): string {
  return `127.1.${Math.floor(number / 250)}.${(number % 250) + 1}`;
}

function filesOf(fleet: UnderFire["fleet"]): number {
  return readdirSync(`/proc/${fleet.pid(0)}/fd`).length;
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

export const UNAUTHENTICATED_ROUNDS = [
  unauthenticatedRound(
    {
      name: "unauthenticated-crowds",
      title:
        "unauthenticated senders with endless bodies of 1 MiB, silent, pipelining, not reading, or with bodies in single bytes",
      full: 700,
      short: 50,
    },
    (count) => ({
      bodies: { count, bodyBytes: BODY },
      silent: { count: 2 * count + 100 },
      pipelining: { count, writes: [PIPELINED] },
      "pipelining bodies": { count, writes: PIPELINED_BODIES },
      "not reading": { count, writes: [PIPELINED], isUnread: true },
      "single bytes": { count: Math.min(count, 100), writes: [BYTE_BY_BYTE] },
    }),
  ),
  unauthenticatedRound(
    {
      name: "unauthenticated-sender",
      title: "bodies of 64 MiB from one address that never end",
      full: 24,
      short: 3,
    },
    (count) => ({ bodies: { count, bodyBytes: 64 * BODY, isOneAddress: true } }),
    { MAX_BODY_BYTES: String(64 * BODY) },
  ),
];

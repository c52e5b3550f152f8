import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { countOf } from "../../support/effects.ts";
import { underFire } from "../driver/round.ts";
import { code } from "../ledger/sources.ts";
import type { Ran, Round } from "./round.ts";

/** GitHub Docs, "Webhook events and payloads": payloads are capped at 25 MB. */
const BYTES = 25_000_000;
/** A wave of one body, and then one of several; two have room in MAX_UNVERIFIED_BYTES, and others get 503. */
const AT_A_TIME = 4;
const PAUSE_MS = 50;
const SAMPLE_MS = 100;
/** Without a bound V8 lets garbage grow with the machine's memory, and RSS would say little of what is kept. */
const HEAP_MB = 256;
/** From the median of the second tenth of the bodies to that of the last tenth: less than 1 MB for each of 128 bodies. */
const MAX_GROWTH_MB = 128;
const MAX_PEAK_MB = 1_000;
/** A shorter run says nothing of growth. */
const MIN_MEASURED = 100;

/** Bodies of the largest size that a platform documents: the process holds some of them at a time, and keeps none. */
export const largeBodies: Round = {
  name: "large-bodies",
  title: `bodies of 25 MB as GitHub may send them, one and ${AT_A_TIME} at a time, a heap of ${HEAP_MB} MB`,
  full: 160,
  short: 10,
  run: (place) =>
    place.withTarget("sqlite", async (target): Promise<Ran> => {
      const faults: string[] = [];
      const rss: number[][] = [];
      let busy = 0;
      let peak = 0;
      const env = { LEDGER_CODE: "on", NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` };
      const platform = { connections: 4, rate: 20 };
      const fire = { target, chance: place.chance.fork(), env, platform, settleMs: 60_000 };
      const audit = await underFire(fire, async ({ fleet }) => {
        const [origin = ""] = fleet.origins;
        let sent = 0;
        const sampling = setInterval(() => {
          const tenth = Math.min(9, Math.floor((sent * 10) / place.count));
          rss[tenth] ??= [];
          rss[tenth].push(megabytes(fleet.pid(0), "VmRSS"));
        }, SAMPLE_MS);
        const next = async (): Promise<void> => {
          sent += 1;
          busy += await deliver(origin, sent, faults);
        };
        try {
          for (let wave = 1; sent < place.count; wave = wave === 1 ? AT_A_TIME : 1) {
            const count = Math.min(wave, place.count - sent);
            await Promise.all(Array.from({ length: count }, next));
          }
        } finally {
          clearInterval(sampling);
        }
        peak = megabytes(fleet.pid(0), "VmHWM");
      });
      const stored = await countOf(target, "oncehook_records", "source = 'code'");
      if (stored !== place.count) faults.push(`${stored} of ${place.count} bodies have a record`);
      const [begin, end] = [median(rss[1] ?? []), median(rss[9] ?? [])];
      if (peak > MAX_PEAK_MB) faults.push(`the process held ${peak} MB at its peak`);
      if (place.count >= MIN_MEASURED && end - begin > MAX_GROWTH_MB)
        faults.push(`the memory grew from ${begin} to ${end} MB`);
      const figures = {
        "RSS in MB, second tenth": begin,
        "RSS in MB, last tenth": end,
        "peak RSS in MB": peak,
        "deliveries again": busy,
      };
      return { count: place.count, audits: [audit], faults, figures };
    }),
};

const SOURCE = code();

/** No room, or too slow: on a busy machine bodies of this size take longer than the receiver's limits. */
const AGAIN: ReadonlySet<number> = new Set([408, 500, 503]);

/** Delivers a body until it succeeds. @returns how often it was delivered again */
async function deliver(origin: string, number: number, faults: string[]): Promise<number> {
  const body = pushOf(number);
  const headers = {
    "content-type": "application/json",
    "x-github-event": "ledger_posting",
    "x-github-delivery": `push-${number}`,
    ...SOURCE.sign?.({ body, now: new Date() }),
  };
  for (let busy = 0; ; busy += 1) {
    const status = await post(origin, headers, body);
    if (status === 200) return busy;
    if (!AGAIN.has(status)) {
      faults.push(`push-${number} was answered ${status}`);
      return busy;
    }
    await sleep(PAUSE_MS);
  }
}

/** What is refused in the middle of its body may be cut before its answer is read. */
async function post(origin: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  try {
    const response = await request(`${origin}/api/code/callback`, { method: "POST", headers, body });
    await response.body.dump();
    return response.statusCode;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (CUT.has(code)) return 503;
    throw error;
  }
}

const CUT: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** A push of as many commits as fit; the ids of its postings are those of a ledger's event. */
function pushOf(number: number): Buffer {
  const begin = `{"from":"account-0","to":"account-1","cents":1,"push":${number},"commits":[`;
  const commit = `{"id":"${"0".repeat(40)}","message":"Fix all of it","distinct":true,"added":["a.ts"],"removed":[]},`;
  const count = Math.floor((BYTES - begin.length - 100) / commit.length);
  const body = Buffer.alloc(begin.length + count * commit.length, commit);
  // The pattern of commits begins behind what stands before it.
  body.fill(commit, begin.length);
  body.write(begin);
  return Buffer.concat([body.subarray(0, -1), Buffer.from("]}")]);
}

function megabytes(pid: number, of: "VmRSS" | "VmHWM"): number {
  const kilobytes = new RegExp(`${of}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1_024);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { call, strayEvent } from "../driver/call.ts";
import { underFire } from "../driver/round.ts";
import type { Ran, Round } from "./round.ts";

const ADDRESSES = 20;
const A_SECOND = 10;
const BYTES = 262_144;
const MAX_P99_MS = 250;
/** A shorter run, beside others, says nothing of how long answers take. */
const MIN_SECONDS = 30;

const filled = (part: string): string => part.repeat(BYTES / part.length + 1).slice(0, BYTES);
/** What cost the most before masking had a budget, and what fuzzers found since. */
const BODIES = [
  `["{"${filled(',"{"')}]`,
  `[{}${filled(',{"a":{"b":{"c":{}}}}')}]`,
  `{"a":1${filled(',"k1":1,"k2":2')}}`,
  `{"n":"${filled("4111 ")}"}`,
  `[1${filled(",4111111111111111")}]`,
  filled("a=a&"),
  filled("a=%3D&"),
  filled("a=eyJ&"),
  `{"pin":[${filled("[")}`,
  `{"a":"${filled('\\"')}"}`,
  filled("code=x "),
  filled("eyJa."),
].map((text) => Buffer.from(text));

/** Forged bodies that are dear to mask, from many addresses: what is authentic is answered in time all along. */
export const forgedFlood: Round = {
  name: "forged-flood",
  title: `seconds of forged bodies of 256 KiB, ${ADDRESSES} addresses at ${A_SECOND} a second each`,
  full: 60,
  short: 2,
  run: (place) =>
    place.withTarget("sqlite", async (target): Promise<Ran> => {
      const faults: string[] = [];
      const took: number[] = [];
      let refused = 0;
      const fire = {
        target,
        chance: place.chance.fork(),
        platform: { connections: 4, rate: 20 },
        settleMs: 60_000,
      };
      const audit = await underFire(fire, async ({ fleet }) => {
        const [origin = ""] = fleet.origins;
        const end = performance.now() + place.count * 1_000;
        const flood = async (address: string, first: number): Promise<void> => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: address });
          for (let sent = first; performance.now() < end; sent += 1) {
            const next = performance.now() + 1_000 / A_SECOND;
            const status = await forge(origin, agent, BODIES[sent % BODIES.length] ?? Buffer.alloc(0));
            if (status === 401) refused += 1;
            else faults.push(`a forged body was answered ${status}`);
            await sleep(Math.max(0, next - performance.now()));
          }
          agent.destroy();
        };
        const authentic = async (): Promise<void> => {
          for (let number = 0; performance.now() < end; number += 1) {
            const begin = performance.now();
            // Authentic, and of a type without a handler, so that it stands in nobody's books.
            const { status } = await call(origin, strayEvent(`probe-${number}`, "unknown_type"));
            took.push(performance.now() - begin);
            if (status !== 400) faults.push(`an authentic callback was answered ${status}`);
            await sleep(20);
          }
        };
        const floods = Array.from({ length: ADDRESSES }, (_, at) => flood(`127.0.0.${at + 2}`, at));
        await Promise.all([authentic(), ...floods]);
      });
      const sorted = took.toSorted((a, b) => a - b);
      const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
      if (place.count >= MIN_SECONDS && !(p99 < MAX_P99_MS)) faults.push(`p99 is ${p99.toFixed(0)} ms`);
      const figures = {
        "forged bodies": refused,
        "authentic callbacks": took.length,
        "p50 in ms": (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(1),
        "p99 in ms": p99.toFixed(1),
      };
      return { count: place.count, audits: [audit], figures, faults: faults.slice(0, 20) };
    }),
};

function forge(origin: string, agent: Agent, body: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": body.length,
      "x-signature": "0".repeat(64),
    };
    const options = { method: "POST", agent, headers };
    request(`${origin}/api/platform/callback`, options, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
    })
      .once("error", reject)
      .end(body);
  });
}

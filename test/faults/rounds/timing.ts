import { createHmacScheme, platformHmac, signHmac } from "../../../src/sources/index.ts";
import { systemClock } from "../../../src/system/index.ts";
import { POSTED } from "../../support/posted.ts";
import { SECRET } from "../../support/secrets.ts";
import type { Chance } from "../driver/chance.ts";
import type { Round } from "./round.ts";

/**
 * As dudect does (Reparaz, Balasch and Verbauwhede, 2017): the same check runs on two classes of wrong signatures in random
 * order, and Welch's t-test says whether their times differ. In one class the signature is right but for its last digit,
 * in the other one it is all wrong; a comparison that stops at the first difference takes longer for the first.
 */
const BODIES = 256;
/** dudect's bound: beyond it there is a leak for certain. */
const MAX_T = 10;
/** The slowest are the machine's doing: interrupts, collected garbage. */
const KEPT = 0.9;
const WARM_UP = 20_000;

export const timing: Round = {
  name: "timing",
  title: "timed checks of a wrong signature",
  full: 4_000_000,
  short: 100_000,
  async run(place) {
    const { verify } = createHmacScheme(platformHmac(null), { secrets: [SECRET], clock: systemClock });
    const times: [number[], number[]] = [[], []];
    // Both kinds come with the same bodies, as many different texts, made alike: otherwise what is compared is how well
    // the processor knows them.
    const cases = Array.from({ length: BODIES }, (_, number) => {
      const body = Buffer.from(JSON.stringify({ event_id: `timing-${number}`, event_type: "payment_notify" }));
      const right = signHmac(SECRET, body);
      return {
        body,
        claims: [ofBytes(right.slice(0, -1) + other(right.at(-1))), ofBytes(randomHex(place.chance))],
      };
    });
    for (let done = -WARM_UP; done < place.count; done += 1) {
      const kind = place.chance.below(2) as 0 | 1;
      const { body, claims } = place.chance.pick(cases);
      const request = { ...POSTED, headers: { "x-signature": [claims[kind] ?? ""] }, body };
      const begun = process.hrtime.bigint();
      await verify(request);
      const took = Number(process.hrtime.bigint() - begun);
      if (done >= 0) times[kind].push(took);
    }
    const limit = percentile([...times[0], ...times[1]], KEPT);
    const [near, far] = times.map((all) => all.filter((time) => time <= limit)) as [number[], number[]];
    const t = welch(near, far);
    const figures = {
      "Welch's t": t.toFixed(2),
      "mean ns, right but for its end": mean(near).toFixed(0),
      "mean ns, all wrong": mean(far).toFixed(0),
    };
    const faults = Math.abs(t) > MAX_T ? [`the check's time tells how much of a signature is right: t = ${t}`] : [];
    return { count: place.count, audits: [], figures, faults };
  },
};

const other = (digit: string | undefined): string => (digit === "0" ? "1" : "0");
const ofBytes = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

function randomHex(chance: Chance): string {
  return Array.from({ length: 64 }, () => chance.below(16).toString(16)).join("");
}

function percentile(times: readonly number[], part: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}

const mean = (times: readonly number[]): number => times.reduce((sum, time) => sum + time, 0) / times.length;

function variance(times: readonly number[]): number {
  const middle = mean(times);
  return times.reduce((sum, time) => sum + (time - middle) ** 2, 0) / (times.length - 1);
}

function welch(one: readonly number[], other: readonly number[]): number {
  return (mean(one) - mean(other)) / Math.sqrt(variance(one) / one.length + variance(other) / other.length);
}

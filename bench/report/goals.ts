import { type Figure, figureOf, type Summary } from "./summary.ts";

/** One figure of an entrant: the case, the entrant, and which of its medians. */
type Place = readonly [name: string, entrant: string, figure: Figure];

interface Goal {
  readonly title: string;
  readonly of: Place;
  /** What it is divided by; a goal without is of the figure itself. */
  readonly against?: Place;
  readonly least?: number;
  readonly most?: number;
  readonly unit?: string;
}

export interface Verdict {
  readonly title: string;
  readonly goal: string;
  /** Undefined where one of the figures was not measured in this run. */
  readonly value: number | undefined;
  readonly isReached: boolean | undefined;
  readonly unit: string;
}

const rate = (name: string, entrant: string): Place => [name, entrant, "rate"];
const sqlite = "oncehook-sqlite";
const postgres = "oncehook-postgres";

const growth = (entrant: string): Goal => ({
  title: `10 million stored events against none, ${entrant}`,
  of: rate("growth", `${entrant}, 10,000,000 stored`),
  against: rate("growth", `${entrant}, 0 stored`),
  least: 0.9,
});

const overload = (entrant: string): Goal => ({
  title: `goodput at ten times the connections against the usual number, ${entrant}`,
  of: rate("overload", entrant),
  against: rate("overload", `${entrant}, usual`),
  least: 0.9,
});

const memory = (entrant: string): Goal[] => [
  { title: `RSS at the best rate, ${entrant}`, of: ["memory", entrant, "rss"], most: 200, unit: " MB" },
  { title: `RSS is flat, ${entrant}`, of: ["memory", entrant, "rssGrowth"], most: 1.1 },
];

const fresh = (title: string, entrant: string, other: string, least: number): Goal => ({
  title: `fresh events, ${title}`,
  of: rate("fresh", entrant),
  against: rate("fresh", other),
  least,
});

/** What the project asks of itself; see docs/performance.md. */
const GOALS: readonly Goal[] = [
  fresh("SQLite, against Express + better-sqlite3", sqlite, "express-sqlite", 8),
  fresh("SQLite, against bare node:http + HMAC", sqlite, "bare", 0.4),
  fresh("SQLite, against Debian's webhook", sqlite, "webhook", 2),
  fresh("SQLite, against Restate", sqlite, "restate", 9),
  fresh("SQLite, against a prototype of group commit", sqlite, "prototype", 1),
  fresh("PostgreSQL, against Express + pg", postgres, "express-postgres", 2.5),
  fresh("PostgreSQL, against pgbench with one transaction an event", postgres, "pgbench", 0.9),
  {
    title: "duplicates, SQLite, against bare",
    of: rate("duplicates", sqlite),
    against: rate("duplicates", "bare"),
    least: 0.55,
  },
  {
    title: "bad signatures, SQLite, against bare",
    of: rate("bad-signatures", sqlite),
    against: rate("bad-signatures", "bare"),
    least: 0.7,
  },
  growth(sqlite),
  growth(postgres),
  {
    title: "p99 at half of the best rate, SQLite",
    of: ["latency", sqlite, "p99"],
    most: 10,
    unit: " ms",
  },
  {
    title: "p99 at half of the best rate, SQLite, against bare at the same rate",
    of: ["latency", sqlite, "p99"],
    against: ["latency", "bare", "p99"],
    most: 3,
  },
  overload(sqlite),
  overload(postgres),
  ...memory(sqlite),
  ...memory(postgres),
  {
    title: "start to ready, CPU time, SQLite",
    of: ["startup", sqlite, "startCpuMs"],
    most: 500,
    unit: " ms",
  },
];

export function judgeGoals(summaries: readonly Summary[], goals: readonly Goal[] = GOALS): Verdict[] {
  return goals.map(({ title, of, against, least, most, unit = against ? " ×" : "" }) => {
    const own = figureOf(summaries, ...of);
    const other = against === undefined ? 1 : figureOf(summaries, ...against);
    const value = own === undefined || other === undefined || other === 0 ? undefined : own / other;
    const isReached =
      value === undefined ? undefined : value >= (least ?? -Infinity) && value <= (most ?? Infinity);
    const goal = least === undefined ? `≤ ${most}${unit}` : `≥ ${least}${unit}`;
    return { title, goal, value, isReached, unit };
  });
}

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

const ratio = (title: string, of: Place, against: Place, least: number): Goal => ({
  title,
  of,
  against,
  least,
});

const fresh = (title: string, entrant: string, other: string, least: number): Goal =>
  ratio(`fresh, ${title}`, rate("fresh", entrant), rate("fresh", other), least);

/** What an application pays for its framework, or for a `Request` between. */
const application = (title: string, framework: string, store: string, least: number): Goal =>
  ratio(
    `in an application, ${title}`,
    rate("application", `application-${framework}-${store}`),
    rate("application", `oncehook-${store}`),
    least,
  );

const growth = (title: string, entrant: string, least: number): Goal =>
  ratio(
    `10 million stored ÷ none, ${title}`,
    rate("growth", `${entrant}, 10,000,000 stored`),
    rate("growth", `${entrant}, 0 stored`),
    least,
  );

const overload = (title: string, entrant: string): Goal =>
  ratio(
    `goodput at ten times the connections ÷ the usual number, ${title}`,
    rate("overload", entrant),
    rate("overload", `${entrant}, usual`),
    0.9,
  );

const memory = (title: string, entrant: string): Goal[] => [
  { title: `resident memory under load, ${title}`, of: ["memory", entrant, "rss"], most: 160, unit: " MB" },
  {
    title: `resident memory, last third ÷ second third of a long run, ${title}`,
    of: ["memory", entrant, "rssGrowth"],
    most: 1.1,
    unit: " ×",
  },
];

/** What the project asks of itself; see docs/performance.md. */
const GOALS: readonly Goal[] = [
  fresh("SQLite ÷ the prototype of group commit", sqlite, "prototype", 0.85),
  fresh("SQLite ÷ Express + better-sqlite3", sqlite, "express-sqlite", 3.5),
  fresh("SQLite ÷ Go + go-sqlite3", sqlite, "go-sqlite", 2.5),
  {
    title: "CPU of a fresh callback, SQLite ÷ the prototype",
    of: ["fresh", sqlite, "cpu"],
    against: ["fresh", "prototype", "cpu"],
    most: 1.35,
  },
  fresh("PostgreSQL ÷ Go + pgx", postgres, "go-postgres", 1.3),
  fresh("PostgreSQL ÷ Express + pg", postgres, "express-postgres", 2.75),
  fresh("PostgreSQL ÷ pgbench, one transaction an event", postgres, "pgbench", 1.2),
  application("Express on SQLite ÷ the listener", "express", "sqlite", 0.9),
  application("Express on PostgreSQL ÷ the listener", "express", "postgres", 0.9),
  application("Hono on SQLite ÷ the listener", "hono", "sqlite", 0.65),
  application("Hono on PostgreSQL ÷ the listener", "hono", "postgres", 0.65),
  ratio(
    "in an application, Express on PostgreSQL ÷ the hand-written route",
    rate("application", "application-express-postgres"),
    rate("application", "express-postgres"),
    1.5,
  ),
  ratio("prepare, PostgreSQL ÷ Express + pg", rate("prepare", postgres), rate("prepare", "express-postgres"), 1),
  ratio("duplicates, SQLite ÷ bare", rate("duplicates", sqlite), rate("duplicates", "bare"), 0.5),
  ratio("bad signatures, SQLite ÷ bare", rate("bad-signatures", sqlite), rate("bad-signatures", "bare"), 0.8),
  growth("SQLite", sqlite, 0.6),
  growth("PostgreSQL", postgres, 0.85),
  {
    title: "p99 at half of the best rate, SQLite",
    of: ["latency", sqlite, "p99"],
    most: 10,
    unit: " ms",
  },
  {
    title: "p99 at half of the best rate, SQLite ÷ the prototype at that rate",
    of: ["latency", sqlite, "p99"],
    against: ["latency", "prototype", "p99"],
    most: 2,
  },
  ratio("ten sources ÷ one, SQLite", rate("sources", `${sqlite}, 10 sources`), rate("sources", sqlite), 0.97),
  {
    title: "CPU of a fresh callback, an unsigned id ÷ a signed one",
    of: ["identity", "oncehook-unsigned-id", "cpu"],
    against: ["identity", "oncehook-signed-id", "cpu"],
    most: 1.03,
  },
  overload("SQLite", sqlite),
  overload("PostgreSQL", postgres),
  ...memory("SQLite", sqlite),
  ...memory("PostgreSQL", postgres),
  {
    title: "allocated for a fresh event, SQLite",
    of: ["allocation", sqlite, "allocated"],
    most: 25,
    unit: " KiB",
  },
  {
    title: "start to ready, CPU, the packed package",
    of: ["startup", "oncehook-package", "startCpuMs"],
    most: 300,
    unit: " ms",
  },
];

export function judgeGoals(summaries: readonly Summary[], goals: readonly Goal[] = GOALS): Verdict[] {
  return goals.map(({ title, of, against, least, most, unit = against ? " ×" : "" }) => {
    const own = figureOf(summaries, ...of);
    const other = against === undefined ? 1 : figureOf(summaries, ...against);
    const value = own === undefined || other === undefined || other === 0 ? undefined : own / other;
    const isReached = value === undefined ? undefined : value >= (least ?? -Infinity) && value <= (most ?? Infinity);
    const goal = least === undefined ? `≤ ${most}${unit}` : `≥ ${least}${unit}`;
    return { title, goal, value, isReached, unit };
  });
}

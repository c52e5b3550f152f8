import type { Traffic } from "../load/event-file.ts";

/** What runs in each round of a case: a contender, perhaps in several processes or with events stored before. */
export interface Entrant {
  readonly label: string;
  readonly contender: string;
  readonly processes: number;
  readonly stored: number;
  /** How many are configured; the load is of the specification's platform, which is one of them. */
  readonly sources: number;
  /** Times the connections that were asked for. */
  readonly crowd: number;
}

export type Kind = "load" | "startup" | "memory" | "allocation";

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  readonly traffic: Traffic;
  readonly entrants: readonly Entrant[];
  /** Handlers take 20 ms of outside work before the transaction. */
  readonly isSlow: boolean;
  /** Half of the best rate, instead of the best rate. */
  readonly isPaced: boolean;
  /** A 503 is an expected response here. */
  readonly mayRefuse: boolean;
}

const RECEIVERS = ["oncehook-sqlite", "oncehook-postgres"];
const EXPRESS = ["express-sqlite", "express-postgres"];
const HAND_WRITTEN = [...EXPRESS, "go-sqlite", "go-postgres"];
const LIMITS = ["pgbench", "pgbench-pipeline"];
const IDENTITIES = ["oncehook-signed-id", "oncehook-unsigned-id"];
const DEPENDENT = ["oncehook-dependent", "oncehook-dependent-alone"];
const IN_APPLICATIONS = ["node", "express", "hono"].flatMap((framework) =>
  ["sqlite", "postgres"].map((store) => `application-${framework}-${store}`),
);
const SERVERS = ["bare", "prototype", ...RECEIVERS, ...HAND_WRITTEN, "webhook", "restate"];

/** All cases; `sizes` are the numbers of stored events that `growth` compares. */
export function casesOf(sizes: readonly number[]): Case[] {
  const load = (name: string, title: string, contenders: readonly string[], more: Partial<Case> = {}): Case => ({
    name,
    title,
    kind: "load",
    traffic: "fresh",
    entrants: contenders.map((contender) => entrant(contender)),
    isSlow: false,
    isPaced: false,
    mayRefuse: false,
    ...more,
  });
  return [
    load("fresh", "Fresh events", [...SERVERS, ...LIMITS]),
    load("duplicates", "One event over and over", SERVERS, { traffic: "duplicates" }),
    load("bad-signatures", "Bad signatures", SERVERS, { traffic: "bad-signatures" }),
    load("mixed", "Three in ten events sent again", SERVERS, { traffic: "mixed" }),
    // More callbacks wait at the same time than connections could carry otherwise.
    load("prepare", "20 ms of outside work", [], {
      isSlow: true,
      entrants: [...RECEIVERS, ...HAND_WRITTEN].map((name) => ({ ...entrant(name), crowd: 4 })),
    }),
    load("large", "16 KiB bodies", SERVERS, { traffic: "large" }),
    load("processes", "1, 2 and 4 processes on one PostgreSQL", [], {
      entrants: [1, 2, 4].map((processes) => entrant("oncehook-postgres", { processes })),
    }),
    load("latency", "Latency at half of the best rate", SERVERS, { isPaced: true }),
    load("growth", "With events stored before", [], {
      entrants: RECEIVERS.flatMap((name) => sizes.map((stored) => entrant(name, { stored }))),
    }),
    load("sources", "Ten sources configured, and one", [], {
      entrants: RECEIVERS.flatMap((name) => [entrant(name), entrant(name, { sources: 10 })]),
    }),
    load("identity", "An id that the signature covers, and one that it does not", IDENTITIES),
    load("application", "Inside an application", [...RECEIVERS, ...IN_APPLICATIONS, "express-postgres"]),
    load("dependent", "A handler that reads before it writes", DEPENDENT),
    load("overload", "Ten times the connections", [], {
      mayRefuse: true,
      entrants: RECEIVERS.flatMap((name) => [
        { ...entrant(name), label: `${name}, usual` },
        { ...entrant(name), crowd: 10 },
      ]),
    }),
    load("memory", "Memory over a longer run", RECEIVERS, { kind: "memory" }),
    load("allocation", "Bytes that a fresh event takes from V8's heaps", ["prototype", ...RECEIVERS, ...EXPRESS], {
      kind: "allocation",
    }),
    load("startup", "From the start to ready", [...SERVERS, "oncehook-package"], { kind: "startup" }),
  ];
}

function entrant(
  contender: string,
  { processes = 1, sources = 1, stored }: { processes?: number; sources?: number; stored?: number } = {},
): Entrant {
  const parts = [contender];
  if (processes > 1) parts.push(`${processes} processes`);
  if (sources > 1) parts.push(`${sources} sources`);
  if (stored !== undefined) parts.push(`${stored.toLocaleString("en")} stored`);
  return { label: parts.join(", "), contender, processes, stored: stored ?? 0, sources, crowd: 1 };
}

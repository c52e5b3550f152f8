import type { Dialect, Target } from "../../support/open-target.ts";
import type { Audit } from "../driver/audit.ts";
import type { Chance } from "../driver/chance.ts";
import type { PostgresCluster } from "../machine/postgres-cluster.ts";

/** What rounds are lent. */
export interface Place {
  readonly chance: Chance;
  /** How many faults of its kind a round shall bring. */
  readonly count: number;
  /** A fresh database that is gone afterwards. */
  withTarget<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T>;
  /** The server behind all PostgreSQL databases of the run; a round may stop it, and leaves it running. */
  postgres(): Promise<PostgresCluster>;
  say(line: string): void;
}

/** What a round came to. */
export interface Ran {
  /** Faults that were brought about, as they were counted. */
  readonly count: number;
  readonly audits: readonly Audit[];
  /** Figures of its own. */
  readonly figures?: Readonly<Record<string, string | number>>;
  /** What went wrong beside the books. */
  readonly faults?: readonly string[];
}

export interface Round {
  readonly name: string;
  readonly title: string;
  /** How many a full run brings, and how many a short one. */
  readonly full: number;
  readonly short: number;
  run(place: Place): Promise<Ran>;
}

/** This machine cannot do it; the table says why. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

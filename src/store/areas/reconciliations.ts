import { sql } from "kysely";
import { Area, equal, insert } from "../database.ts";
import { type Lease, latestPlausibleLeaseEnd, takeLease } from "./lease.ts";
import { readSetting, writeSetting } from "./settings.ts";

/** How far the reconciliation of a source has come. Times in ISO 8601. */
export interface ReconcileProgress {
  /** The start of the first run: no run goes back further. */
  readonly since?: string;
  /** The end of the last complete run. */
  readonly through?: string;
  /** A run that has not finished. */
  readonly open?: {
    readonly from: string;
    readonly to: string;
    /** The platform's cursor of the next page. */
    readonly cursor: string;
    /** How many of its events could not be accepted. */
    readonly failed: number;
  };
}

/** Milliseconds since the epoch have this many digits until the year 2286. */
const TIME_DIGITS = 13;

/** The progress and the lease of each source's scheduled reconciliation, in `oncehook_settings`. */
export class Reconciliations extends Area {
  async progress(source: string): Promise<ReconcileProgress> {
    return JSON.parse((await readSetting(this.database.read, progressName(source))) ?? "{}");
  }

  saveProgress(source: string, progress: ReconcileProgress): Promise<void> {
    return writeSetting(this.database.write, progressName(source), JSON.stringify(progress));
  }

  /** Takes the lease where it is free, or ends later than a clock can have set it: `longestMs` after its start. */
  async lease(source: string, { owner, now, until }: Lease, longestMs: number): Promise<boolean> {
    const name = leaseName(source);
    const endsAt = sql`CAST(substr(oncehook_settings.value, 1, ${sql.lit(TIME_DIGITS)}) AS bigint)`;
    const latest = latestPlausibleLeaseEnd(now, longestMs).getTime();
    const take = () => this.write`${insert("oncehook_settings", { name, value: leaseText(until, owner) })}
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      WHERE ${endsAt} <= ${now.getTime()} OR ${endsAt} > ${latest}`;
    const { changes } = await takeLease(this.database, take, () => this.setLeaseEnd(source, owner, now));
    return changes > 0;
  }

  /** Renews the lease of this owner, or ends it at a time. @returns false where another owner has it */
  async setLeaseEnd(source: string, owner: string, until: Date): Promise<boolean> {
    const { changes } = await this.write`UPDATE oncehook_settings SET value = ${leaseText(until, owner)}
      WHERE ${equal({ name: leaseName(source) })} AND value LIKE ${`%${owner}`}`;
    return changes > 0;
  }
}

const progressName = (source: string) => `reconciled ${source}`;
const leaseName = (source: string) => `reconcile_lease ${source}`;
const leaseText = (until: Date, owner: string) => `${until.getTime()} ${owner}`;

import { Area } from "../database.ts";
import type { Lease } from "./lease.ts";
import { leaseByName, setNamedLeaseEnd } from "./named-lease.ts";
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

/** The progress and the lease of each source's scheduled reconciliation, in `oncehook_settings`. */
export class Reconciliations extends Area {
  async progress(source: string): Promise<ReconcileProgress> {
    return JSON.parse((await readSetting(this.database.read, progressName(source))) ?? "{}");
  }

  saveProgress(source: string, progress: ReconcileProgress): Promise<void> {
    return writeSetting(this.database.write, progressName(source), JSON.stringify(progress));
  }

  /** Takes the lease where it is free, or ends later than a clock can have set it: `longestMs` after its start. */
  lease(source: string, lease: Lease, longestMs: number): Promise<boolean> {
    return leaseByName(this.database, leaseName(source), lease, longestMs);
  }

  /** Renews the lease of this owner, or ends it at a time. @returns false where another owner has it */
  setLeaseEnd(source: string, owner: string, until: Date): Promise<boolean> {
    return setNamedLeaseEnd(this.database, leaseName(source), owner, until);
  }
}

const progressName = (source: string) => `reconciled ${source}`;
const leaseName = (source: string) => `reconcile_lease ${source}`;

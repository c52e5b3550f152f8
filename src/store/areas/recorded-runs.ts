import type { EventKey } from "../../domain/index.ts";
import { Area, insert, run, storableText } from "../database.ts";

/** A run of the handler of an event. */
export interface RecordedRun extends EventKey {
  /** ISO 8601. */
  readonly endedAt: string;
  readonly trigger: string;
  readonly outcome: string;
  /** JSON: statements with their values and rows, masked. */
  readonly statements: string;
}

/** The statements of handlers, kept as long as the callback log, for people to read (decision 0111). */
export class RecordedRuns extends Area {
  append(runs: readonly RecordedRun[]): Promise<void> {
    return this.database.transact(
      async (query) => {
        for (const { trigger: triggeredBy, statements, ...row } of runs)
          await run(
            query,
            insert("oncehook_recorded_runs", { ...row, triggeredBy, statements: storableText(statements) }),
          );
      },
      { mayWait: true },
    );
  }

  /** The latest ones, newest first. */
  list({ source, eventId }: EventKey, limit: number): Promise<readonly RecordedRun[]> {
    return this.read`SELECT source, event_id, ended_at, triggered_by AS "trigger", outcome, statements
      FROM oncehook_recorded_runs WHERE event_id = ${eventId} AND source = ${source} ORDER BY id DESC LIMIT ${limit}`;
  }
}

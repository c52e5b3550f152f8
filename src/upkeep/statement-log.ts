import { type Clock, createSparingLog, type Log } from "../domain/index.ts";
import { createRowBuffer, type Mask, shownStatements } from "../observability/index.ts";
import type { RecordedRun as EndedRun, StatementLog } from "../pipeline/index.ts";
import type { RecordedRun, Store } from "../store/index.ts";

/** So many runs wait for the database; further ones are not recorded. */
const MAX_WAITING = 5_000;
/** Of the statements of a run, as JSON. */
const MAX_CHARACTERS = 65_536;
const NOT_STORED = "the statements of handlers could not be stored; they are kept and tried again";
const LOST = "statements of handlers are not recorded: the database did not take them";

interface Options {
  readonly store: Pick<Store, "recordedRuns" | "database">;
  readonly mask: Pick<Mask, "text" | "json">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stores what handlers ran, after their answers. A process that is killed loses what waits: a few of the latest runs. */
export function createStatementLog({ store, mask, clock, log }: Options): StatementLog {
  const sparing = createSparingLog(log, clock);
  const buffer = createRowBuffer<RecordedRun>({
    append: (rows) => store.recordedRuns.append(rows),
    maxRows: MAX_WAITING,
    lengthOf: ({ statements }) => statements.length,
    isDataError: store.database.isDataError,
    onRefused: (_row, err) => sparing("error", { fields: { err }, message: LOST }),
    onError: (err, waiting) => sparing("warn", { fields: { err, waiting }, message: NOT_STORED }),
  });
  const note = ({ key, kind, outcome, record }: EndedRun): void => {
    const shown = shownStatements(record, mask, MAX_CHARACTERS);
    const statements = JSON.stringify({
      statements: shown,
      statements_omitted: record.statementsOmitted + record.statements.length - shown.length,
      connection_used: record.isConnectionUsed,
    });
    const ended = "code" in outcome ? outcome.code : outcome.kind;
    const row = { ...key, endedAt: clock.now().toISOString(), trigger: kind, outcome: ended, statements };
    if (!buffer.add(row)) sparing("warn", { fields: { waiting: MAX_WAITING }, message: LOST });
  };
  return {
    note,
    flush: buffer.flush,
    async close() {
      await buffer.close();
    },
  };
}

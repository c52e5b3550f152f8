import { sql } from "kysely";
import { DAY_MS, type Problem, type ProblemState } from "../../domain/index.ts";
import { Area, assign, equal, insert, storableText } from "../database.ts";

export interface Mute {
  readonly until: Date;
  readonly by: string;
  readonly reason: string;
}

interface StateRow
  extends Omit<ProblemState, "state">,
    Pick<Problem, "id" | "kind" | "source" | "eventType" | "code" | "title" | "firstSeen" | "lastSeen"> {}

const STATE_COLUMNS = sql.raw(
  "id, kind, source, event_type, code, title, first_seen, last_seen, reopened, resolved_at, muted_until, muted_by, mute_reason",
);
/** A problem that was resolved so long ago is forgotten. */
const KEPT_MS = 30 * DAY_MS;
const MOST_RESOLVED = 200;
const MOST_ROWS = 2_000;

/** Only the states of problems are stored; their counts are those of the rows that have them. */
export class ProblemStates extends Area {
  /**
   * Notes new, returned and resolved problems. Nearly always nothing has changed, and nothing is written.
   * @param isComplete whether `open` has all of them; otherwise none is resolved
   */
  async sync(open: readonly Problem[], isComplete: boolean, now: Date): Promise<(Problem & ProblemState)[]> {
    const rows = await this.read<StateRow>`SELECT ${STATE_COLUMNS} FROM oncehook_problem_states
      ORDER BY last_seen DESC LIMIT ${MOST_ROWS}`;
    const stored = new Map(rows.map((row) => [row.id, row]));
    const seen = new Set(open.map(({ id }) => id));
    const listed: (Problem & ProblemState)[] = [];
    for (const problem of open) listed.push(await this.asOpen(problem, stored.get(problem.id), now));
    const gone = rows.filter(({ id }) => !seen.has(id));
    for (const row of isComplete ? gone : []) if (row.resolvedAt === null) await this.resolve(row, now);
    const resolved = gone.filter(({ resolvedAt }) => isComplete || resolvedAt !== null).slice(0, MOST_RESOLVED);
    return [...listed, ...resolved.map((row) => asResolved(row, now))];
  }

  /** The same for one problem. @param open what was counted of it; undefined where nothing of it is left */
  async syncOne(
    id: string,
    open: Problem | undefined,
    { isComplete, now }: { readonly isComplete: boolean; readonly now: Date },
  ): Promise<(Problem & ProblemState) | undefined> {
    const [row] = await this
      .read<StateRow>`SELECT ${STATE_COLUMNS} FROM oncehook_problem_states WHERE ${equal({ id })}`;
    if (open !== undefined) return this.asOpen(open, row, now);
    if (row === undefined || (row.resolvedAt === null && !isComplete)) return undefined;
    if (row.resolvedAt === null) await this.resolve(row, now);
    return asResolved(row, now);
  }

  /** @returns false for an unknown problem. `undefined` ends the mute. */
  async mute(id: string, mute: Mute | undefined): Promise<boolean> {
    const values =
      mute === undefined
        ? { mutedUntil: null, mutedBy: null, muteReason: null }
        : { mutedUntil: mute.until, mutedBy: mute.by, muteReason: storableText(mute.reason) };
    const { changes } = await this.write`UPDATE oncehook_problem_states SET ${assign(values)} WHERE ${equal({ id })}`;
    return changes > 0;
  }

  private async asOpen(problem: Problem, row: StateRow | undefined, now: Date): Promise<Problem & ProblemState> {
    if (row === undefined || row.resolvedAt !== null) await this.open(problem);
    const reopened = (row?.reopened ?? 0) + (row?.resolvedAt == null ? 0 : 1);
    return { ...problem, ...stateOf(row, now), resolvedAt: null, reopened };
  }

  /** Several processes may look at once: one of them counts the return. */
  private async open(problem: Problem): Promise<void> {
    const { id, kind, source, eventType, code, firstSeen, lastSeen } = problem;
    const row = { id, kind, source, eventType, code, title: storableText(problem.title), firstSeen, lastSeen };
    await this.write`${insert("oncehook_problem_states", { ...row, reopened: 0 })}
      ON CONFLICT (id) DO UPDATE SET resolved_at = NULL, title = excluded.title, last_seen = excluded.last_seen,
        reopened = oncehook_problem_states.reopened + 1
      WHERE oncehook_problem_states.resolved_at IS NOT NULL`;
  }

  private async resolve({ id }: StateRow, now: Date): Promise<void> {
    await this.write`UPDATE oncehook_problem_states SET ${assign({ resolvedAt: now })}
      WHERE ${equal({ id })} AND resolved_at IS NULL`;
    await this.write`DELETE FROM oncehook_problem_states WHERE resolved_at < ${new Date(now.getTime() - KEPT_MS)}`;
  }
}

function stateOf(row: StateRow | undefined, now: Date): Omit<ProblemState, "resolvedAt" | "reopened"> {
  const isMuted = row?.mutedUntil != null && Date.parse(row.mutedUntil) > now.getTime();
  if (!isMuted) return { state: "open", mutedUntil: null, mutedBy: null, muteReason: null };
  const { mutedUntil, mutedBy, muteReason } = row;
  return { state: "muted", mutedUntil, mutedBy, muteReason };
}

function asResolved(row: StateRow, now: Date): Problem & ProblemState {
  const { resolvedAt, ...stored } = row;
  const nothing = {
    count: 0,
    isAtLeast: false,
    states: {},
    since: row.firstSeen,
    example: null,
    remedy: null,
    hourly: [],
  };
  return { ...stored, ...nothing, state: "resolved", resolvedAt: resolvedAt ?? now.toISOString() };
}

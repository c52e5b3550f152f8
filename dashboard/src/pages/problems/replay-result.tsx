import { Progress } from "@mantine/core";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import type { Tone } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { WorkActions } from "./work-actions.tsx";

/** Red where any event failed again, green only where all of them have ended without one. */
export function replayTone({ state, failed }: BulkReplayView): Tone {
  if (failed > 0) return "failed";
  return state === "done" ? "success" : "quiet";
}

export function replayLabel({ scope, state, failed }: BulkReplayView): string {
  if (failed === 0 || state !== "done") return state;
  return scope === "events" ? `${failed} failed` : `${failed} failed again`;
}

interface Props {
  readonly replay: BulkReplayView;
  /** Whether it links to the events that failed again. */
  readonly hasLink?: boolean;
}

/** How far a bulk replay is, or how it ended, in place. */
export function ReplayResult({ replay, hasLink = false }: Props) {
  const { id, scope, total, done, succeeded, already_handled, failed, skipped, state, started_at, created_by } = replay;
  const tone = replayTone(replay);
  const percent = total === 0 ? 100 : Math.round((done / total) * 100);
  return (
    <section className="result-line replay-result" data-tone={tone} aria-label="Bulk replay">
      <p role="status">
        {WORDS[state]}: {done} of {total}. {succeeded} succeeded,{" "}
        {scope === "events"
          ? `${skipped} skipped, ${failed} failed.`
          : `${already_handled} already handled, ${failed} failed again.`}
      </p>
      <Progress
        value={percent}
        size="sm"
        color={tone === "failed" ? "red" : tone === "success" ? "green" : "accent"}
        aria-label={`${done} of ${total} done`}
      />
      <p className="quiet">
        Started <Time at={started_at} relative /> by {actorName(created_by)}
        {replay.reason === null ? "." : `: ${replay.reason}`}
      </p>
      {hasLink && failed > 0 && (
        <p>
          <PageLink to="/problems/replays/$id" params={{ id: String(id) }}>
            View the {failed} that failed again
          </PageLink>
        </p>
      )}
      <WorkActions what="bulk replay" id={id} state={state} api={api.bulkReplays} queryKey="bulk-replays">
        {done} of {total} are done and stay so; the others stay as they are. It cannot be resumed: only a new one
        replays them.
      </WorkActions>
    </section>
  );
}

const WORDS = { running: "Replaying", paused: "Paused", cancelled: "Cancelled", done: "Replayed" } as const;

import "./source-state.css";
import type { SourceHealthView } from "oncehook/admin-client";
import { milliseconds } from "./time.tsx";

const STATES = {
  ok: { label: "Healthy", tone: "success" },
  failing: { label: "Failing", tone: "failed" },
  refusing: { label: "Refused", tone: "refused" },
  silent: { label: "Silent", tone: "refused" },
  idle: { label: "No callback", tone: "quiet" },
} as const;

/** How a source fares, as a dot and a word. */
export function SourceState({ state }: Pick<SourceHealthView, "state">) {
  const { label, tone } = STATES[state];
  return (
    <span className="outcome" data-tone={tone}>
      {label}
    </span>
  );
}

/** How much of its deadline the slowest of a hundred responses takes. */
export function DeadlineShare({ p99_ms, deadline_ms }: Pick<SourceHealthView, "p99_ms" | "deadline_ms">) {
  if (p99_ms === null) return <span className="share-ms">–</span>;
  if (deadline_ms === null) return <span className="share-ms">{milliseconds(p99_ms)}</span>;
  const share = Math.min(1, p99_ms / deadline_ms);
  return (
    <span className="deadline-share">
      <span className="share-ms">{milliseconds(p99_ms)}</span>
      <span className="deadline" data-late={p99_ms > deadline_ms} aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <span className="share-of"> of {deadline_ms / 1_000} s</span>
    </span>
  );
}

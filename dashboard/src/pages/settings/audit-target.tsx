import type { AuditEntryView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { PageLink } from "../../parts/page-link.tsx";
import { SourceLink } from "../../parts/source-link.tsx";

/** The thing that an action was done to, as a link to its page. */
export function AuditTarget({ action, target, detail }: Pick<AuditEntryView, "action" | "target" | "detail">) {
  const [kind] = action.split(".", 1);
  if (kind === "bulk_replay" || kind === "backfill")
    return (
      <WorkLink kind={kind} id={target}>
        {(kind === "backfill" ? textOf(detail?.handler) : replayedText(detail)) ?? target}
      </WorkLink>
    );
  if (kind === "alert" && detail !== null)
    return (
      <PageLink to="/settings/alerts" underline="hover">
        {[detail.kind, detail.source, detail.subject].flatMap((part) => textOf(part) ?? []).join(" ")}
      </PageLink>
    );
  if (target === null) return <span className="none">–</span>;
  const text = <code>{target}</code>;
  if ((kind === "failure" || kind === "event") && target.includes("/"))
    return (
      <PageLink to="/activity" search={{ open: target }} underline="hover">
        {text}
      </PageLink>
    );
  if (kind === "problem")
    return (
      <PageLink to="/problems/$id" params={{ id: target }} underline="hover">
        {text}
      </PageLink>
    );
  return action === "sandbox.source" ? <SourceLink source={target}>{text}</SourceLink> : text;
}

interface WorkProps {
  readonly kind: "bulk_replay" | "backfill";
  /** Null for a dry run, a refused start, and one that an earlier version noted. */
  readonly id: string | null;
  readonly children: ReactNode;
}

/** Leads to a bulk replay or a backfill, or to the list of them. */
function WorkLink({ kind, id, children }: WorkProps) {
  const place = kind === "backfill" ? "backfills" : "replays";
  if (id === null)
    return (
      <PageLink to={`/problems/${place}`} underline="hover">
        {children ?? (kind === "backfill" ? "Backfills" : "Bulk replays")}
      </PageLink>
    );
  return (
    <PageLink to={`/problems/${place}/$id`} params={{ id }} underline="hover">
      {children}
    </PageLink>
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Such as `slack, handled events`; undefined for a pause, which has no filter. */
function replayedText(detail: AuditEntryView["detail"]): string | undefined {
  const filter = detail?.filter;
  if (typeof filter !== "object" || filter === null) return undefined;
  const { source, event_type, problem } = filter as Readonly<Record<string, unknown>>;
  const named = [source, event_type].flatMap((part) => textOf(part) ?? []).join(" ");
  if (textOf(problem) !== undefined) return `Problem ${problem}`;
  return [named, detail?.scope === "events" ? "handled events" : "failures"].filter((part) => part !== "").join(", ");
}

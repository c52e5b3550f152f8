import type { AuditEntryView } from "oncehook/admin-client";
import { PageLink } from "../../parts/page-link.tsx";
import { SourceLink } from "../../parts/source-link.tsx";

/** The thing that an action was done to, as a link to its page. */
export function AuditTarget({ action, target, detail }: Pick<AuditEntryView, "action" | "target" | "detail">) {
  const [kind] = action.split(".", 1);
  // A start is logged before the new one has its number.
  if (target === null && action === "bulk_replay.start")
    return (
      <PageLink to="/problems/replays" underline="hover">
        Bulk replays
      </PageLink>
    );
  if (target === null && action === "backfill.start")
    return (
      <PageLink to="/problems/backfills" underline="hover">
        {typeof detail?.handler === "string" ? detail.handler : "Backfills"}
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
  if (kind === "bulk_replay")
    return (
      <PageLink to="/problems/replays/$id" params={{ id: target }} underline="hover">
        {text}
      </PageLink>
    );
  if (kind === "backfill")
    return (
      <PageLink to="/problems/backfills/$id" params={{ id: target }} underline="hover">
        {text}
      </PageLink>
    );
  return action === "sandbox.source" ? <SourceLink source={target}>{text}</SourceLink> : text;
}

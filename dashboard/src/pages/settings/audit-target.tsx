import { useQuery } from "@tanstack/react-query";
import type { AuditEntryView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { alertName } from "../../parts/alert-texts.ts";
import { handlerName } from "../../parts/handler-name.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { problemCause } from "../../parts/problem-cause.ts";
import { PROBLEM_LIST } from "../../parts/problem-list.ts";
import { sourceOrChannel } from "../../parts/problem-steps.ts";
import { SourceLink } from "../../parts/source-link.tsx";

/** The thing that an action was done to, as a link to its page. */
export function AuditTarget({ action, target, detail }: Pick<AuditEntryView, "action" | "target" | "detail">) {
  const [kind] = action.split(".", 1);
  if (kind === "bulk_replay" || kind === "backfill")
    return (
      <WorkLink kind={kind} id={target}>
        {(kind === "backfill" ? backfillText(detail) : replayedText(detail)) ?? target}
      </WorkLink>
    );
  if (kind === "alert" && detail !== null)
    return (
      <PageLink to="/settings/alerts" underline="hover">
        {alertText(detail)}
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
        <ProblemName id={target} />
      </PageLink>
    );
  return action === "sandbox.source" ? <SourceLink source={target}>{text}</SourceLink> : text;
}

/** The cause of a problem; its id where it was resolved long ago. */
function ProblemName({ id }: { readonly id: string }) {
  const { data, isPending } = useQuery(PROBLEM_LIST);
  if (isPending) return <span aria-busy="true">…</span>;
  const problem = data?.items.find((one) => one.id === id);
  if (problem === undefined) return <code>{id}</code>;
  return `${problemCause(problem).what} of ${sourceOrChannel(problem)}`;
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

function alertText({ kind, source, subject }: NonNullable<AuditEntryView["detail"]>): string {
  return alertName({ kind: textOf(kind), source: textOf(source), subject: textOf(subject) });
}

/** Such as `audit of stripe`. */
function backfillText(detail: AuditEntryView["detail"]): string | undefined {
  const handler = textOf(detail?.handler);
  if (handler === undefined) return undefined;
  const { name, of } = handlerName({ handler, event_type: textOf(detail?.event_type) });
  return `${name} ${of.startsWith("of ") ? of : `· ${of}`}`;
}

/** Such as `slack, handled events`; undefined for a pause, which has no filter. */
function replayedText(detail: AuditEntryView["detail"]): ReactNode {
  const filter = detail?.filter;
  if (typeof filter !== "object" || filter === null) return undefined;
  const { source, event_type, problem } = filter as Readonly<Record<string, unknown>>;
  const named = [source, event_type].flatMap((part) => textOf(part) ?? []).join(" ");
  const id = textOf(problem);
  if (id !== undefined) return <ProblemName id={id} />;
  return [named, detail?.scope === "events" ? "handled events" : "failures"].filter((part) => part !== "").join(", ");
}

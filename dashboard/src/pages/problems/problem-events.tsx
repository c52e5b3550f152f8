import { VisuallyHidden } from "@mantine/core";
import type { FailureView, ProblemDetailView, ProblemView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { openOf } from "../../panel/opened.ts";
import { alertName } from "../../parts/alert-texts.ts";
import { claimedBy } from "../../parts/claimed.ts";
import { Icon } from "../../parts/icon.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { plain } from "../../parts/plain-message.ts";
import { Time } from "../../parts/time.tsx";
import { type EventLine, EventLines } from "./event-lines.tsx";
import { problemEvents } from "./problem-text.ts";
import { useFailures } from "./use-failures.ts";

const HEADS = {
  failure: ["Failed at", "Event", "Next retry"],
  refusal: ["Received at", "Event type", "Event", "Reason"],
  delivery: ["Failed at", "Notification", "Event type", "Event", "Error"],
  /** Of notifications whose topics are the types of their events. */
  topic: ["Failed at", "Notification", "Event", "Error"],
} as const;

interface Props {
  readonly problem: ProblemView;
  readonly events: ProblemDetailView["events"];
}

/** The events of a problem, its callbacks or its deliveries, newest first. */
export function ProblemEvents({ problem, events }: Props) {
  const isFailure = problem.kind === "failure";
  const { data = [] } = useFailures(problem.id, isFailure);
  const columns = columnsOf(problem.kind, events);
  const failures = new Map(data.map((failure) => [openOf(failure), failure]));
  if (events.length === 0) return null;
  return (
    <section>
      <div className="events-title">
        <h3>{problemEvents(problem)}</h3>
        {problem.kind === "refusal" && (
          <PageLink
            to="/activity"
            search={{ source: problem.source, outcome: "refused", from: problem.since }}
            underline="hover"
          >
            View in Activity
          </PageLink>
        )}
      </div>
      <EventLines
        label="Events of this problem"
        heads={HEADS[columns]}
        lines={events.map((event, index) => {
          const line = lineOf(event, index, columns, events[0]?.error);
          return isFailure ? { ...line, note: <Attempts failure={failures.get(line.open ?? "")} /> } : line;
        })}
      />
    </section>
  );
}

function Attempts({ failure }: { readonly failure: FailureView | undefined }): ReactNode {
  if (failure === undefined) return null;
  const { attempts, state, next_attempt_at } = failure;
  return (
    <>
      <span className="wide">Attempt {attempts}</span>
      {state === "exhausted" && <Words>retries exhausted</Words>}
      {state === "rejected" && <Words>rejected</Words>}
      {state === "waiting" && next_attempt_at !== null && (
        <>
          <span className="wide">, retry </span>
          <Time at={next_attempt_at} isShort />
        </>
      )}
    </>
  );
}

/** Behind the number of attempts, for which a telephone has no room. */
function Words({ children }: { readonly children: string }) {
  return (
    <>
      <span className="wide">, </span>
      {children}
    </>
  );
}

type ProblemEvent = ProblemDetailView["events"][number];

function columnsOf(kind: ProblemView["kind"], events: readonly ProblemEvent[]): keyof typeof HEADS {
  const isSame = events.every(({ topic, event_type }) => event_type === null || event_type === topic);
  return kind === "delivery" && isSame ? "topic" : kind;
}

/** @param newest the error of the newest event, which stands above the lines */
function lineOf(
  event: ProblemEvent,
  index: number,
  columns: keyof typeof HEADS,
  newest: string | null = null,
): EventLine {
  const { at, error, callback_id, notification_id, event_id, alert } = event;
  const line = {
    key: `${callback_id ?? notification_id ?? event_id} ${index}`,
    at,
    note: error === null || error === newest ? undefined : plain(error),
    title: error ?? undefined,
  };
  if (alert !== null) {
    return { ...line, whole: <AlertsLink name={`Alert: ${alertName(alert)}`} /> };
  }
  if (columns === "refusal") return { ...line, ...calledBack(event) };
  const open = event.source === null || event_id === null ? undefined : openOf({ source: event.source, event_id });
  const named = { ...line, name: event_id ?? "–", open };
  if (columns === "topic") return { ...named, about: [event.topic] };
  return columns === "delivery" ? { ...named, about: [event.topic, event.event_type] } : named;
}

/** A refused callback has the type and the event that it claims, as in Activity; without a claim, its number. */
function calledBack(event: ProblemEvent): Pick<EventLine, "about" | "name" | "open" | "mark"> {
  const { callback_id, event_id, event_type } = event;
  const claimed = event_id === null ? claimedBy({ ...event, outcome: event.state }) : undefined;
  const name = event_id ?? claimed?.id;
  return {
    about: [event_type ?? claimed?.type],
    name: name ?? `Callback ${callback_id}`,
    open: String(callback_id),
    mark: claimed?.id !== undefined && claimed.isUnverified ? <Unverified /> : undefined,
  };
}

function Unverified() {
  return (
    <>
      <VisuallyHidden component="em">unverified</VisuallyHidden>
      <Icon name="unverified" size={14} />
    </>
  );
}

function AlertsLink({ name }: { readonly name: string }) {
  return (
    <PageLink to="/settings/alerts" underline="hover">
      {name}
    </PageLink>
  );
}

import type { OverviewView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { api } from "../../client.ts";
import { AlertLink } from "../../parts/alert-link.tsx";
import { ALERT_NAMES, ALERT_TEXTS, ALERT_TONES } from "../../parts/alert-texts.ts";
import { Icon } from "../../parts/icon.tsx";
import { MuteButton } from "../../parts/mute-button.tsx";
import type { Tone } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { problemCause } from "../../parts/problem-cause.ts";
import { PROBLEM_STEPS } from "../../parts/problem-steps.ts";
import { Sparkline } from "../../parts/sparkline.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName, useMayChange } from "../../session.ts";
import type { AlertView } from "../../views.ts";

/** Their room is always there, so that the chart never moves. */
const MOST = 6;
const MOST_ALERTS = 2;
const COUNT = new Intl.NumberFormat();

interface Props {
  readonly overview: OverviewView;
  readonly isStale: boolean;
}

/** An alert beside a problem of its source would say the same again. */
const COVERED_BY: Partial<Record<AlertView["kind"], string>> = { failures: "failure", signatures: "refusal" };

/** Problems with the next step, the most frequent first; then alerts and secrets. */
export function ProblemCards({ overview: { problems, alerts, needs_attention }, isStale }: Props) {
  const uncovered = alerts.filter(
    ({ kind, source }) => !problems.top.some((one) => one.kind === COVERED_BY[kind] && one.source === source),
  );
  const notes = needs_attention.filter(({ kind }) => kind === "previous_secret_in_use");
  const rest = [
    ...uncovered
      .slice(0, MOST_ALERTS)
      .map((alert) => <AlertCard key={`${alert.kind} ${alert.source}`} alert={alert} />),
    ...notes.map(({ kind, count, message }) => <SecretCard key={kind} count={count} message={message} />),
  ];
  const shown = problems.top.slice(0, MOST - Math.min(rest.length, MOST_ALERTS + 1));
  const isEmpty = shown.length + rest.length === 0;
  return (
    <section className="cards" aria-labelledby="needs">
      <h2 id="needs">
        Needs attention
        {problems.open > shown.length && (
          <PageLink to="/problems" underline="hover">
            All {problems.open} problems
          </PageLink>
        )}
      </h2>
      {isEmpty ? (
        <p className="card-none" data-stale={isStale}>
          <Icon name="check" />
          {isStale ? "Nothing needed attention at the last update." : "Nothing needs attention."}
        </p>
      ) : (
        <ul>
          {shown.map((problem) => (
            <ProblemCard key={problem.id} problem={problem} />
          ))}
          {rest}
        </ul>
      )}
    </section>
  );
}

const KINDS: Readonly<Record<string, { readonly label: string; readonly tone: Tone; readonly step: string }>> = {
  failure: { label: "failed", tone: "failed", step: PROBLEM_STEPS.failure },
  refusal: { label: "refused", tone: "refused", step: PROBLEM_STEPS.refusal },
  delivery: { label: "not delivered", tone: "failed", step: PROBLEM_STEPS.delivery },
};

/** The head of the card has the count, the outcome and the source or the channel. */
function causeOf(problem: Parameters<typeof problemCause>[0]): string {
  const { what, why } = problemCause(problem);
  return problem.kind === "delivery" ? why : `${what}: ${why}`;
}

function ProblemCard({ problem }: { readonly problem: OverviewView["problems"]["top"][number] }) {
  const { id, kind, source, count, at_least, first_seen, hourly } = problem;
  const cause = causeOf(problem);
  const { label, tone, step } = KINDS[kind] ?? { label: kind, tone: "failed", step: "Open" };
  const mayChange = useMayChange();
  return (
    <Card
      head={
        <>
          <span className="outcome" data-tone={tone}>
            {COUNT.format(count)}
            {at_least && "+"} {label}
          </span>
          <span className="quiet">
            {kind === "delivery" && <span className="card-channel">channel </span>}
            {source}
          </span>
          <CardBars hourly={hourly} tone={tone} />
        </>
      }
      link={
        <PageLink to="/problems/$id" params={{ id }} underline="never" className="card-link">
          {cause}
        </PageLink>
      }
      since={first_seen}
      step={step}
      action={
        mayChange && (
          <MuteButton
            name={cause}
            isMuted={false}
            isIcon
            mute={(body) => api.problems.mute(id, body)}
            unmute={() => api.problems.unmute(id)}
          />
        )
      }
    />
  );
}

/** The bars of a card have a window of their own, and each card its own scale. */
function CardBars({ hourly, tone }: Parameters<typeof Sparkline>[0]) {
  const most = Math.max(0, ...hourly);
  const text = `24 hours, at most ${COUNT.format(most)} an hour`;
  return (
    <span className="card-bars" title={most === 0 ? undefined : text}>
      <Sparkline hourly={hourly} tone={tone} />
      {most > 0 && <span className="card-bars-text">{text}</span>}
    </span>
  );
}

function AlertCard({ alert }: { readonly alert: AlertView }) {
  const { kind, source, subject, since, muted_until, muted_by, reason } = alert;
  const target = { kind, source, subject };
  const name = [source, subject].filter((part) => part !== "").join(" ");
  const mayChange = useMayChange();
  return (
    <Card
      head={
        <>
          <span className="outcome" data-tone={muted_until === null ? ALERT_TONES[kind] : "quiet"}>
            Alert: {ALERT_NAMES[kind]}
          </span>
          <span className="quiet">{name}</span>
        </>
      }
      link={
        <AlertLink alert={alert} underline="never" className="card-link">
          {`${name}: ${ALERT_TEXTS[kind]}`}
        </AlertLink>
      }
      since={since}
      step={
        muted_until === null ? (
          "Open"
        ) : (
          <span title={reason ?? undefined}>
            Muted until <Time at={muted_until} /> by {actorName(muted_by)}
          </span>
        )
      }
      action={
        mayChange && (
          <MuteButton
            name={`alert ${kind} of ${name}`}
            isMuted={muted_until !== null}
            isIcon
            mute={(body) => api.alerts.mute({ ...target, ...body })}
            unmute={() => api.alerts.unmute(target)}
          />
        )
      }
    />
  );
}

function SecretCard({ count, message }: { readonly count: number; readonly message: string }) {
  return (
    <Card
      head={
        <span className="outcome" data-tone="refused">
          {count} previous {count === 1 ? "secret" : "secrets"} in use
        </span>
      }
      link={
        <PageLink to="/sources" underline="never" className="card-link">
          {message}
        </PageLink>
      }
      step="View secrets"
    />
  );
}

interface CardProps {
  readonly head: ReactNode;
  readonly link: ReactNode;
  readonly since?: string;
  readonly step: ReactNode;
  readonly action?: ReactNode;
}

/** The whole card is the link; a button in it lies above. */
function Card({ head, link, since, step, action }: CardProps) {
  return (
    <li className="card">
      <div className="card-head">
        {head}
        {action}
      </div>
      {link}
      <div className="card-foot">
        {since !== undefined && (
          <span>
            since <Time at={since} relative />
          </span>
        )}
        <span className="card-step">{step}</span>
      </div>
    </li>
  );
}

import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ListedAlertView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { isFailing, reasonOf } from "../../parts/failing-delivery.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { reasonInTitle } from "../../parts/problem-cause.ts";
import { Time } from "../../parts/time.tsx";

const EVERY_MS = 30_000;
const LOG = "log";

interface Props {
  /** Those that are configured. */
  readonly channels: readonly string[];
  readonly alerts: readonly ListedAlertView[];
}

/** A channel that delivers nothing: alerts that use it reach no one. */
interface FailingChannel {
  readonly channel: string;
  readonly why: string;
  readonly at: string;
  readonly count: number | null;
}

/** The channels of alerts, and those among them that fail. */
export function AlertChannels({ channels, alerts }: Props) {
  const problems = useQuery({
    queryKey: ["problems", "deliveries"],
    queryFn: () => api.problems.list({ kind: "delivery" }),
    refetchInterval: EVERY_MS,
  });
  const others = channels.filter((channel) => channel !== LOG);
  if (others.length === 0)
    return (
      <p className="quiet">
        No channel is configured: an alert is only a line of the log. Set <code>NOTIFY_WEBHOOK_URL</code>,{" "}
        <code>NOTIFY_EMAIL_TO</code> or <code>ALERT_SLACK_URL</code>.
      </p>
    );
  const failing = others.flatMap((channel) => failureOf(channel, alerts, problems.data?.items ?? []) ?? []);
  return (
    <>
      <p className="quiet">Alerts are sent to {others.join(", ")}.</p>
      {failing.length > 0 && (
        <Alert color="red" title={titleOf(failing, others)} role="alert" my="md">
          {failing.map(({ channel, count, why, at }) => (
            <Text key={channel} size="sm">
              {channel}: {why}. {count !== null && `${count} not delivered, the last one at `}
              {count === null && "The last attempt was at "}
              <Time at={at} relative />.{" "}
              <PageLink to="/problems" search={{ kind: "delivery", source: channel }}>
                View problem
              </PageLink>
            </Text>
          ))}
        </Alert>
      )}
    </>
  );
}

function titleOf(failing: readonly FailingChannel[], channels: readonly string[]): string {
  if (failing.length === channels.length) return "Alerts are not being delivered";
  return `Alerts are not being delivered to ${failing.map(({ channel }) => channel).join(", ")}`;
}

type DeliveryProblem = Awaited<ReturnType<typeof api.problems.list>>["items"][number];

/** By its problem, or by an alert that it did not get; undefined where it has delivered an alert since. */
function failureOf(
  channel: string,
  alerts: readonly ListedAlertView[],
  problems: readonly DeliveryProblem[],
): FailingChannel | undefined {
  const sent = alerts.flatMap(({ notification }) =>
    (notification?.deliveries ?? [])
      .filter((delivery) => delivery.channel === channel)
      .map((delivery) => ({ ...delivery, at: delivery.delivered_at ?? notification?.created_at ?? "" })),
  );
  const delivered =
    sent
      .flatMap(({ state, at }) => (state === "delivered" ? [at] : []))
      .toSorted()
      .at(-1) ?? "";
  const problem = problems
    .filter(({ source, state }) => source === channel && state !== "resolved")
    .toSorted((one, other) => other.last_seen.localeCompare(one.last_seen))[0];
  if (problem !== undefined && problem.last_seen > delivered)
    return { channel, why: reasonOf(reasonInTitle(problem)), at: problem.last_seen, count: problem.count };
  const failed = sent.filter((one) => isFailing(one) && one.at > delivered).toSorted(byTime)[0];
  if (failed === undefined) return undefined;
  return { channel, why: reasonOf(failed.error ?? "not delivered"), at: failed.at, count: null };
}

const byTime = (one: { readonly at: string }, other: { readonly at: string }) => other.at.localeCompare(one.at);

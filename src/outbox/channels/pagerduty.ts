import type { Channel } from "../channel.ts";
import { type AlertChannelOptions, alertChannel } from "./alert-channel.ts";
import { clip } from "./alert-content.ts";

export const PAGERDUTY_DESTINATION = "pagerduty";

const MAX_SUMMARY = 1_024;
/** PagerDuty names no limit for these; an event may have 512 KB. */
const MAX_DETAIL = 2_000;

/**
 * Events API v2 (developer.pagerduty.com/docs/send-alert-event): an alert triggers one incident. Further messages join it
 * by `dedup_key`, and the alert's end resolves it.
 * @param routingKey the integration key of a service
 */
export function pagerDutyChannel({
  routingKey,
  ...options
}: AlertChannelOptions & { readonly routingKey: string }): Channel {
  const { environment, host } = options.origin;
  return alertChannel(PAGERDUTY_DESTINATION, options, (alert, pageUrl) => ({
    routing_key: routingKey,
    event_action: alert.isResolved ? "resolve" : "trigger",
    dedup_key: alert.key,
    client: "Oncehook",
    ...(pageUrl === undefined ? {} : { client_url: pageUrl, links: [{ href: pageUrl, text: "Open Oncehook" }] }),
    payload: {
      summary: clip(`${alert.title}: ${alert.message}`, MAX_SUMMARY),
      source: host,
      severity: alert.severity,
      timestamp: alert.since,
      component: clip(alert.source, MAX_DETAIL),
      group: environment,
      class: alert.topic,
      custom_details: Object.fromEntries(
        [...alert.facts, ["What to do", alert.remedy ?? ""] as const]
          .filter(([, value]) => value !== "")
          .map(([name, value]) => [name, clip(value, MAX_DETAIL)]),
      ),
    },
  }));
}

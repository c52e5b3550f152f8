import { describe, expect, it } from "vitest";
import { messageOf } from "../../src/alerts/messages.ts";
import {
  alertChannel,
  CHAT_MESSAGES,
  type Channel,
  createAllowedAddresses,
  DeliveryPostponedError,
  PermanentDeliveryError,
  pagerDutyChannel,
} from "../../src/outbox/index.ts";
import type { AlertKey, StoredNotification } from "../../src/store/index.ts";
import { type AlertService, type AlertServices, withAlertServices } from "../support/alert-services.ts";

const SINCE = new Date("2026-03-04T12:00:00.000Z");
const KEY: AlertKey = { kind: "failures", source: "stripe", subject: "invoice.paid" };
const ALL: readonly AlertService[] = ["slack", "teams", "discord", "pagerduty"];
const PAGE = "https://oncehook.example.com";
const ROUTING_KEY = "0123456789abcdef0123456789abcdef";

function channelOf(
  service: AlertService,
  url: string,
  over: { pageUrl?: string | undefined; host?: string } = {},
): Channel {
  const origin = { host: "pay.example.com", environment: "production", pageUrl: PAGE, ...over };
  const options = { url, origin, addresses: createAllowedAddresses(["127.0.0.0/8"]) };
  if (service === "pagerduty") return pagerDutyChannel({ ...options, routingKey: ROUTING_KEY });
  return alertChannel(service, options, CHAT_MESSAGES[service]);
}

function alert(state: "started" | "grown" | "resolved", key: AlertKey = KEY): StoredNotification {
  const { topic, payload } = messageOf(key, state, SINCE, 41);
  const createdAt = SINCE.toISOString();
  return { id: 1, idempotencyKey: "k", source: "oncehook", eventId: "e", topic, payload, createdAt };
}

async function send(channel: Channel, ...notifications: readonly StoredNotification[]): Promise<void> {
  try {
    for (const one of notifications) await channel.deliver(one, AbortSignal.timeout(5_000), channel.name);
  } finally {
    await channel.close?.();
  }
}

describe.each(ALL)("an alert to %s", (service) => {
  it("the service takes the alert, which says what, source, type, count, since, remedy, receiver and page", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      await send(channelOf(service, urlOf(service)), alert("started"));
      const shown = String(taken[0]?.text).replaceAll("\\\\", "");
      for (const part of [
        "Events failed in every attempt: invoice.paid of stripe",
        "41 events invoice.paid of stripe failed in every attempt",
        "oncehook failures",
        "fix the cause, then replay or discard them",
        "2026-03-04 12:00:00 UTC",
        "pay.example.com (production)",
        PAGE,
      ])
        expect(shown).toContain(part);
    }));

  it("the end of an alert is a message that says Resolved, without a remedy", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      await send(channelOf(service, urlOf(service)), alert("resolved"));
      expect(taken[0]?.text).toContain("Resolved: Events failed in every attempt");
      expect(taken[0]?.text).not.toContain("What to do");
    }));

  it("the service takes an alert whose names are as long as a platform can make them, cut to its limits", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      const long = { ...KEY, source: "&".repeat(3_000), subject: `${"<>_*".repeat(3_000)}😀` };
      await send(channelOf(service, urlOf(service)), alert("started", long));
      expect(taken[0]?.text).toContain("…");
    }));

  it("a message without the address of a page has no link", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      await send(channelOf(service, urlOf(service), { pageUrl: undefined }), alert("started"));
      expect(taken[0]?.text).not.toContain("Open Oncehook");
      expect(taken[0]?.text).not.toContain(PAGE);
    }));

  it("an error quotes the service's reason, and Retry-After and 410 are followed", () =>
    withAlertServices(async ({ urlOf, answers }) => {
      answers.push(
        { status: 404, body: "no_service\n" },
        { status: 429, body: "slow down", headers: { "retry-after": "30" } },
        { status: 410, body: "channel_is_archived" },
      );
      const fail = () => send(channelOf(service, urlOf(service)), alert("started")).catch((error: unknown) => error);
      expect(await fail()).toMatchObject({
        name: "Error",
        message: `${service} answered 404, expected 2xx: no_service`,
      });
      const postponed = await fail();
      expect(postponed).toBeInstanceOf(DeliveryPostponedError);
      expect(postponed).toMatchObject({ seconds: 30 });
      expect(await fail()).toBeInstanceOf(PermanentDeliveryError);
    }));
});

describe("names that a platform chose", () => {
  const hostile = { ...KEY, subject: "<!channel> <https://evil.example|x> *b* @everyone [x](https://evil.example)" };
  const sendHostile = (service: AlertService, { urlOf }: AlertServices) =>
    send(channelOf(service, urlOf(service)), alert("started", hostile));

  it("Slack gets no mention and no link out of an event type", () =>
    withAlertServices(async (services) => {
      await sendHostile("slack", services);
      expect(services.taken[0]?.text).toContain("&lt;!channel&gt; &lt;https://evil.example|x&gt;");
      expect(services.taken[0]?.text).not.toContain("<!");
    }));

  it("Teams gets an event type as text without markdown", () =>
    withAlertServices(async (services) => {
      await sendHostile("teams", services);
      expect(services.taken[0]?.text).not.toContain('TextBlock","text');
    }));

  it("Discord gets an event type with each sign of its markdown escaped, and may mention no one", () =>
    withAlertServices(async (services) => {
      await sendHostile("discord", services);
      const shown = String(services.taken[0]?.text).replaceAll("\\\\", "\\");
      expect(shown).toContain(String.raw`\@everyone \[x\]\(https\://evil.example\)`);
      expect(shown).toContain('"allowed_mentions":{"parse":[]}');
    }));
});

describe("the incident at PagerDuty", () => {
  interface Sent {
    readonly event_action: string;
    readonly dedup_key: string;
    readonly payload: { readonly severity: string };
  }

  it("one incident is triggered, added to and resolved by one key", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      await send(channelOf("pagerduty", urlOf("pagerduty")), alert("started"), alert("grown"), alert("resolved"));
      const sent = taken.map(({ body }) => body as Sent);
      expect(sent.map(({ event_action }) => event_action)).toEqual(["trigger", "trigger", "resolve"]);
      expect(new Set(sent.map(({ dedup_key }) => dedup_key)).size).toBe(1);
    }));

  it("another type, another alert and another receiver have incidents of their own", () =>
    withAlertServices(async ({ urlOf, taken }) => {
      const url = urlOf("pagerduty");
      await send(channelOf("pagerduty", url), alert("started"), alert("started", { ...KEY, subject: "other" }));
      await send(channelOf("pagerduty", url), alert("started", { kind: "signatures", source: "stripe", subject: "" }));
      await send(channelOf("pagerduty", url, { host: "staging.example.com" }), alert("started"));
      expect(new Set(taken.map(({ body }) => (body as Sent).dedup_key)).size).toBe(4);
      const severities = taken.map(({ body }) => (body as Sent).payload.severity);
      expect(severities).toEqual(["error", "error", "critical", "error"]);
    }));
});

it("an alert goes to no private address that is not allowed", async () => {
  const options = { url: "http://127.0.0.1:9/x", addresses: createAllowedAddresses([]) };
  const origin = { host: "pay.example.com", environment: "test", pageUrl: undefined };
  const channel = alertChannel("slack", { ...options, origin }, CHAT_MESSAGES.slack);
  await expect(send(channel, alert("started"))).rejects.toThrow("NOTIFY_ALLOW_ADDRESSES");
});

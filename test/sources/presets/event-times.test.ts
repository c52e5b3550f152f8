import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonValue } from "../../../src/domain/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { openPreset } from "../../support/preset.ts";
import { PRESET_SENDERS } from "../../support/preset-senders.ts";

const SENDERS = new Map(PRESET_SENDERS);

type Row = [preset: string, at: string, value: JsonValue, seconds: number];

/** 2026-06-15, 11:59:18 in UTC. */
const AT = 1_781_524_758;
const ISO = "2026-06-15T11:59:18";

/**
 * Each as the platform's page of `facts.docs` writes it. Further: Stripe, "Event destinations" (v2 `created`); Discord,
 * "Webhook Events" (no offset); Xero, "Webhooks overview" (`eventDateUtc`, no offset); Meta, "Messenger Platform:
 * webhook events" (`time` in milliseconds) and "Webhooks" (in seconds); Pipedrive, "Webhooks v1" (in seconds).
 */
const TIMES: readonly Row[] = [
  ["adyen-platform", "timestamp", "2026-06-15T13:59:18+02:00", AT],
  ["airtable", "timestamp", `${ISO}.812Z`, AT],
  ["airwallex", "created_at", `${ISO}+0000`, AT],
  ["anthropic", "created_at", `${ISO}.000000Z`, AT],
  ["asana", "events.0.created_at", `${ISO}.147Z`, AT],
  ["auth0", "0.data.date", `${ISO}.812Z`, AT],
  ["bigcommerce", "created_at", AT, AT],
  ["box", "created_at", "2026-06-15T04:59:18-07:00", AT],
  ["calendly", "created_at", `${ISO}.000000Z`, AT],
  ["chargebee", "occurred_at", AT, AT],
  ["checkout-com", "created_on", `${ISO}Z`, AT],
  ["clerk", "timestamp", AT * 1000 + 835, AT],
  ["cloudflare", "ts", AT, AT],
  ["cloudinary", "timestamp", `${ISO}+00:00`, AT],
  ["coinbase-commerce", "event.created_at", `${ISO}Z`, AT],
  ["customer-io", "timestamp", AT, AT],
  ["discord", "event.timestamp", `${ISO}.064834`, AT],
  ["docusign", "generatedDateTime", `${ISO}.1230000Z`, AT],
  ["dropbox-sign", "event.event_time", String(AT), AT],
  ["elevenlabs", "event_timestamp", AT, AT],
  ["fastspring", "events.0.created", AT * 1000 + 437, AT],
  ["figma", "timestamp", `${ISO}Z`, AT],
  ["fusionauth", "event.createInstant", AT * 1000, AT],
  ["gemini", "timestamp", `${ISO}Z`, AT],
  ["gocardless", "events.0.created_at", `${ISO}.145Z`, AT],
  ["hubspot", "0.occurredAt", AT * 1000 + 462, AT],
  ["intercom", "created_at", AT, AT],
  ["jira", "timestamp", AT * 1000, AT],
  ["line", "events.0.timestamp", AT * 1000 + 879, AT],
  ["linear", "webhookTimestamp", AT * 1000 + 12, AT],
  ["linkedin", "occurredAt", AT * 1000, AT],
  ["loops", "eventTime", AT, AT],
  ["meta", "entry.0.time", AT, AT],
  ["meta", "entry.0.time", AT * 1000 + 603, AT],
  ["mollie", "createdAt", `${ISO}.0Z`, AT],
  ["notion", "timestamp", `${ISO}.812Z`, AT],
  ["nylas", "time", AT, AT],
  ["okta", "data.events.0.published", `${ISO}.812Z`, AT],
  ["openai", "created_at", AT, AT],
  ["paddle", "occurred_at", `${ISO}.529257Z`, AT],
  ["pagerduty", "event.occurred_at", `${ISO}.169Z`, AT],
  ["pipedrive", "meta.timestamp", `${ISO}.169Z`, AT],
  ["pipedrive", "meta.timestamp", AT, AT],
  ["polar", "timestamp", `${ISO}.812345Z`, AT],
  ["razorpay", "created_at", AT, AT],
  ["render", "timestamp", `${ISO}.812345678Z`, AT],
  ["resend", "created_at", `${ISO}.126Z`, AT],
  ["revenuecat", "event.event_timestamp_ms", AT * 1000 + 726, AT],
  ["revolut", "timestamp", `${ISO}.865145Z`, AT],
  ["ringcentral", "timestamp", `${ISO}.226Z`, AT],
  ["sendgrid", "0.timestamp", AT, AT],
  ["slack", "event_time", AT, AT],
  ["square", "created_at", `${ISO}.812Z`, AT],
  ["standard-webhooks", "timestamp", `${ISO}.344522Z`, AT],
  ["stripe", "created", AT, AT],
  ["stripe", "created", `${ISO}.134Z`, AT],
  ["telnyx", "data.occurred_at", `${ISO}.521992Z`, AT],
  ["tiktok", "create_time", AT, AT],
  ["trello", "action.date", `${ISO}.812Z`, AT],
  ["twilio-events", "0.time", `${ISO}.812Z`, AT],
  ["twitch", "header.Twitch-Eventsub-Message-Timestamp", `${ISO}.634234626Z`, AT],
  ["typeform", "form_response.submitted_at", `${ISO}Z`, AT],
  ["vercel", "createdAt", AT * 1000, AT],
  ["walmart", "source.eventTime", `${ISO}.193Z`, AT],
  ["whatsapp", "entry.0.changes.0.value.messages.0.timestamp", String(AT), AT],
  ["wise", "data.occurred_at", `${ISO}Z`, AT],
  ["workos", "created_at", `${ISO}.812Z`, AT],
  ["xero", "events.0.eventDateUtc", `${ISO}.902`, AT],
  ["zendesk", "header.X-Zendesk-Webhook-Signature-Timestamp", `${ISO}Z`, AT],
  ["zoom", "event_ts", AT * 1000 + 2, AT],
];

/** What these presets read is tested with keys, certificates or tokens of their own. */
const ELSEWHERE = [
  ...["apple-app-store", "aws-sns", "ebay", "google-pubsub", "lark", "livekit", "paypal", "tiktok-shop"],
  ...["wechat-pay", "wix"],
];
/** Their time is not signed, so that no event has it. */
const UNSIGNED = ["adyen", "mailgun", "monday", "sanity", "sentry", "shopify"];

describe("the time of a platform's event", () => {
  it.each(TIMES)("%s: the time at %s is read from %j", (preset, at, value, seconds) => {
    const sender = SENDERS.get(preset);
    if (sender === undefined) throw new Error(`no preset ${preset}`);
    const definition = sender.source(sender.secrets.slice(0, 1));
    const { headers, body } = definition.sample({ type: "a.b", newId: "evt_1", now: new Date(0) });
    const sent: JsonValue = JSON.parse(Buffer.from(body).toString("utf8"));
    const header = at.startsWith("header.X-") || at.startsWith("header.T") ? at.slice(7) : undefined;
    if (header === undefined) put(sent, at.split("."), value);
    const all = header === undefined ? headers : { ...headers, [header]: String(value) };
    const [event] = eventsOf(openPreset(definition).contract, requestOf(sent, { headers: all }));
    expect(event?.json.timestamp).toBe(seconds);
  });

  it("every preset that reads a time has a row", () => {
    const folder = new URL("../../../src/sources/platforms/", import.meta.url);
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && readFileSync(new URL(file, folder), "utf8").includes("eventTime: {"))
      .map((file) => basename(file, ".ts").replace(/^standard$/, "standard-webhooks"));
    expect(names.length).toBeGreaterThan(UNSIGNED.length);
    const known = new Set([...TIMES.map(([name]) => name), ...ELSEWHERE, ...UNSIGNED]);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});

function put(value: JsonValue, [key = "", ...rest]: readonly string[], last: JsonValue): void {
  const holder = value as Record<string, JsonValue>;
  if (rest.length === 0) holder[key] = last;
  else {
    if (!isJsonObject(holder[key]) && !Array.isArray(holder[key])) holder[key] = rest[0] === "0" ? [{}] : {};
    put(holder[key] as JsonValue, rest, last);
  }
}

import { describe, expect, it } from "vitest";
import type { SampleCallback } from "../../../src/sources/contract/sample.ts";
import { moreThanSecret, type SourceDefinition } from "../../../src/sources/index.ts";
import { meta, PRESETS, tiktokShop, whatsapp } from "../../../src/sources/presets/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { openPreset, PRESET_NOW, PRESET_ORIGIN } from "../../support/preset.ts";

const TARGET = "/base/api/source/callback";
const TYPES: Readonly<Record<string, string>> = {
  airtable: "notification",
  asana: "task.changed",
  "customer-io": "email.sent",
  "dropbox-sign": "signature_request_signed",
  gocardless: "payments.confirmed",
  meta: "page.feed",
  retell: "call_ended",
  sharepoint: "notification",
  x: "tweet_create_events",
  xero: "INVOICE.UPDATE",
};
const LONG_SECRET = "c2VjcmV0".repeat(8);
const HEX = "ab".repeat(32);
const SECRETS: Readonly<Record<string, string>> = {
  adyen: HEX,
  "adyen-platform": HEX,
};
const of = { secret: LONG_SECRET, verifyToken: "a verify token" };
const definitions: [string, SourceDefinition][] = [
  ...Object.entries(PRESETS).flatMap(([name, preset]): [string, SourceDefinition][] =>
    ["discord", "sendgrid", "telnyx", "wise", "twilio-events"].includes(name) || moreThanSecret(name)
      ? []
      : [[name, preset({ secret: SECRETS[name] ?? LONG_SECRET })]],
  ),
  ["meta", meta(of)],
  ["whatsapp", whatsapp(of)],
  ["tiktok-shop", tiktokShop({ secret: LONG_SECRET, appKey: "app_key" })],
];

const sampleOf = (name: string, definition: SourceDefinition, newId: string) =>
  definition.sample({ type: TYPES[name] ?? "thing.happened", newId, now: PRESET_NOW });

/** The keys of a delivery that is signed so many seconds after the event. */
function keysOf(definition: SourceDefinition, sample: SampleCallback, seconds: number): string[] {
  const { scheme, contract } = openPreset(definition);
  const now = new Date(PRESET_NOW.getTime() + seconds * 1_000);
  const time = "x-contentful-timestamp";
  const { body } = sample;
  const headers = { ...sample.headers, ...(time in sample.headers && { [time]: String(now.getTime()) }) };
  const request = { body, headers, method: "POST", target: TARGET, origin: PRESET_ORIGIN, now };
  const signed = requestOf(body, { target: TARGET, headers: { ...headers, ...definition.sign?.(request) } });
  const result = definition.sign === undefined ? undefined : scheme.verify(signed);
  if (result instanceof Promise)
    throw new Error("a preset of SOURCES verified with a key that it had to fetch");
  if (result !== undefined && !("verified" in result)) throw new Error(JSON.stringify(result));
  return eventsOf(contract, signed, result?.signedText).map(({ eventId }) => eventId);
}

/** What the platforms count in the headers of an attempt. */
const ATTEMPT = {
  "X-Attempt-Number": "2",
  "X-Atlassian-Webhook-Retry": "1",
  "X-Slack-Retry-Num": "1",
  "X-Delivery-Id": "another",
};

describe.each(definitions)("the key of an event of %s", (name, definition) => {
  // The sample of Microsoft Graph is a hint without an id.
  const isDelivery = definition.identity === "delivery" || name === "microsoft-graph";
  const sample = sampleOf(name, definition, "event_of_a_platform_1");

  it(`the event of ${name} ${isDelivery ? "runs at each delivery" : "keeps its key over a retry"}`, () => {
    const first = keysOf(definition, sample, 0);
    const retry = keysOf(definition, { ...sample, headers: { ...sample.headers, ...ATTEMPT } }, 60);
    expect(first).toHaveLength(1);
    if (isDelivery) expect(retry).not.toEqual(first);
    else expect(retry).toEqual(first);
  });

  it(`two events of ${name} have two keys`, () => {
    const other = sampleOf(name, definition, "event_of_a_platform_2");
    expect(keysOf(definition, other, 0)).not.toEqual(keysOf(definition, sample, 0));
  });
});

import { describe, expect, it } from "vitest";
import {
  airtable,
  asana,
  calendly,
  customerIo,
  dropbox,
  front,
  line,
  meta,
  pagerduty,
  sanity,
  sentry,
  shopify,
  trello,
  typeform,
  whatsapp,
  xero,
  zendesk,
} from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { type Documented, describeDocumented, hmac, SECONDS, SECRET } from "../../support/documented-preset.ts";
import { answerTo, openPreset, PRESET_NOW, PRESET_ORIGIN, verifiedEvents } from "../../support/preset.ts";

const ISO = PRESET_NOW.toISOString();
const TICKET = { id: 35_436, type: "ticket.solved", subject: "Help" };

const DOCUMENTED: Record<string, Documented> = {
  Asana: {
    preset: asana({ secret: SECRET }),
    body: {
      events: [
        { action: "changed", created_at: ISO, resource: { gid: "1337", resource_type: "task" } },
        { action: "added", created_at: ISO, resource: { gid: "1338", resource_type: "story" } },
      ],
    },
    headers: (body) => ({ "X-Hook-Signature": hmac(body) }),
    events: [
      [`1337.changed.${ISO}.`, "task.changed"],
      [`1338.added.${ISO}.`, "story.added"],
    ],
  },
  Typeform: {
    preset: typeform({ secret: SECRET }),
    body: { event_id: "LtWXD3crgy", event_type: "form_response", form_response: { submitted_at: ISO } },
    headers: (body) => ({ "Typeform-Signature": `sha256=${hmac(body, "base64")}` }),
    events: [["LtWXD3crgy", "form_response"]],
  },
  Calendly: {
    preset: calendly({ secret: SECRET }),
    body: { event: "invitee.created", created_at: ISO, payload: { uri: "https://api.calendly.com/a" } },
    headers: (body) => ({ "Calendly-Webhook-Signature": `t=${SECONDS},v1=${hmac(`${SECONDS}.${body}`)}` }),
    events: [["", "invitee.created"]],
  },
  "a trigger of Zendesk": {
    preset: zendesk({ secret: SECRET }),
    body: TICKET,
    headers: (body) => ({
      "X-Zendesk-Webhook-Signature": hmac(ISO + body, "base64"),
      "X-Zendesk-Webhook-Signature-Timestamp": ISO,
      "X-Zendesk-Webhook-Invocation-Id": "01FNH",
    }),
    events: [["01FNH", "ticket.solved"]],
  },
  "Customer.io": {
    preset: customerIo({ secret: SECRET }),
    body: { event_id: "01E4C4CT6YDC7Y5M7FE1GWWPQJ", object_type: "email", metric: "sent", timestamp: 1 },
    headers: (body) => ({
      "X-CIO-Timestamp": SECONDS,
      "X-CIO-Signature": hmac(`v0:${SECONDS}:${body}`),
    }),
    events: [["01E4C4CT6YDC7Y5M7FE1GWWPQJ", "email.sent"]],
  },
  PagerDuty: {
    preset: pagerduty({ secret: SECRET }),
    body: { event: { id: "01BBYA", event_type: "incident.triggered", occurred_at: ISO, data: {} } },
    headers: (body) => ({ "X-PagerDuty-Signature": `v1=${"0".repeat(64)},v1=${hmac(body)}` }),
    events: [["01BBYA", "incident.triggered"]],
  },
  Sentry: {
    preset: sentry({ secret: SECRET }),
    body: { action: "created", data: { issue: { id: "1" } }, installation: { uuid: "a" } },
    headers: (body) => ({
      "Sentry-Hook-Signature": hmac(body),
      "Sentry-Hook-Resource": "issue",
      "Sentry-Hook-Timestamp": SECONDS,
      "Request-ID": "4fa7b5",
    }),
    events: [[expect.any(String), "issue.created"]],
  },
  Airtable: {
    preset: airtable({ secret: SECRET }),
    body: { base: { id: "app00" }, webhook: { id: "ach00" }, timestamp: "2022-02-01T21:25:05.663Z" },
    headers: (body) => ({
      "X-Airtable-Content-MAC": `hmac-sha256=${hmac(body, "hex", { key: Buffer.from(SECRET, "base64") })}`,
    }),
    events: [["ach00.2022-02-01T21:25:05.663Z", "notification"]],
  },
  Trello: {
    preset: trello({ secret: SECRET }),
    body: { action: { id: "51f9424bcd6e040f3c002412", type: "updateCard", date: ISO }, model: {} },
    headers: (body) => ({
      "X-Trello-Webhook": hmac(`${body}${PRESET_ORIGIN}/api/source/callback`, "base64", {
        algorithm: "sha1",
      }),
    }),
    events: [["51f9424bcd6e040f3c002412", "updateCard"]],
  },
  Front: {
    preset: front({ secret: SECRET }),
    body: { type: "inbound_received", authorization: { id: "cmp_1" }, payload: { id: "evt_1" } },
    headers: (body) => ({
      "X-Front-Request-Timestamp": `${SECONDS}000`,
      "X-Front-Signature": hmac(`${SECONDS}000:${body}`, "base64"),
    }),
    events: [["", "inbound_received"]],
  },
};

describeDocumented(DOCUMENTED);

describe("Dropbox", () => {
  const preset = dropbox({ secret: SECRET });
  const body = JSON.stringify({
    list_folder: { accounts: ["dbid:AAH4f99"] },
    delta: { users: [12_345_678] },
  });
  const request = requestOf(body, { headers: { "X-Dropbox-Signature": hmac(body) } });

  it("Dropbox says of one account again that it has changes, which is another event", async () => {
    const [[first], [second]] = await Promise.all([verifiedEvents(preset, request), verifiedEvents(preset, request)]);
    expect(first?.typeOf()).toBe("list_folder");
    expect(second?.eventId).not.toBe(first?.eventId);
    expect(openPreset(preset).contract.identity).toBe("delivery");
  });

  it("Dropbox with another signature is refused", async () => {
    const { scheme } = openPreset(dropbox({ secret: "another secret" }));
    expect(await scheme.verify(request)).toMatchObject({ code: "signature_mismatch" });
  });

  it("Dropbox asks a new address for its challenge", async () => {
    const question = requestOf("", { method: "GET", target: "/api/source/callback?challenge=abc123" });
    expect(await openPreset(preset).contract.challenge?.(question)).toMatchObject({
      status: 200,
      body: "abc123",
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    });
  });
});

describe("Asana's secret", () => {
  const handshake = requestOf("", { headers: { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" } });
  const ask = (learn?: (secret: string) => boolean, request = handshake) =>
    openPreset(asana({ secret: SECRET }), learn === undefined ? {} : { learn }).contract.challenge?.(request);

  it("Asana's secret is kept and echoed where the source takes a new one", async () => {
    const kept: string[] = [];
    const answer = await ask((secret) => kept.push(secret) > 0);
    const headers = { "x-hook-secret": "b537207f20cbfa02357cf448134da559" };
    expect(answer).toMatchObject({ status: 200, headers });
    expect(kept).toEqual(["b537207f20cbfa02357cf448134da559"]);
  });

  it("Asana's secret is refused where the source takes none", async () => {
    expect(await ask(() => false)).toMatchObject({ code: "handshake_invalid" });
    expect(await ask()).toMatchObject({ code: "handshake_invalid" });
  });

  it("Asana's secret is not looked for in a callback with a signature", async () => {
    const headers = { "X-Hook-Secret": "b537207f", "X-Hook-Signature": hmac("{}") };
    expect(await ask(() => true, requestOf("{}", { headers }))).toBeUndefined();
  });

  it("Asana's secret is of a source whose sign of life without events is answered", async () => {
    const headers = { "X-Hook-Signature": hmac('{"events":[]}') };
    const life = requestOf('{"events":[]}', { headers });
    expect(await answerTo(asana({ secret: SECRET }), life)).toMatchObject({ status: 200 });
  });
});

describe("a callback without events", () => {
  const [of, ofMeta] = [{ secret: SECRET }, { secret: SECRET, verifyToken: "a verify token" }];
  it.each([
    ["a sign of life of Asana", asana(of), {}],
    ["the check of an address by LINE", line(of), { destination: "U1", events: [] }],
    ["Xero's intent to receive", xero(of), { events: [], firstEventSequence: 0, entropy: "S0m3r4Nd" }],
    ["an empty list of Meta", meta(ofMeta), { object: "page", entry: [] }],
    ["an empty list of WhatsApp", whatsapp(ofMeta), { object: "whatsapp_business_account", entry: [] }],
  ])("%s is answered as a question, and nothing is kept", (_, preset, body) => {
    expect(openPreset(preset).contract.read(requestOf(body))).toMatchObject({ kind: "handshake" });
  });
});

describe("Trello", () => {
  it("Trello asks a new address by HEAD", async () => {
    const { contract } = openPreset(trello({ secret: SECRET }));
    expect(contract.methods).toEqual(["POST", "HEAD"]);
    expect(await contract.challenge?.(requestOf("", { method: "HEAD" }))).toMatchObject({ status: 200 });
  });
});

describe("Front's challenge", () => {
  const preset = front({ secret: SECRET });

  it("Front's challenge is echoed before the signature", async () => {
    const question = requestOf('{"type":"sync"}', { headers: { "X-Front-Challenge": "abc" } });
    const answer = await openPreset(preset).contract.challenge?.(question);
    expect(answer).toMatchObject({ status: 200, body: '{"challenge":"abc"}' });
  });

  it("Front's challenge is echoed in a large callback that is signed", async () => {
    const body = JSON.stringify({ type: "sync", payload: "x".repeat(5_000) });
    const headers = { ...DOCUMENTED.Front!.headers(body), "X-Front-Challenge": "abc" };
    const question = requestOf(body, { headers });
    expect(await answerTo(preset, question)).toMatchObject({ status: 200, body: '{"challenge":"abc"}' });
  });
});

describe("Airtable", () => {
  it("Airtable is answered without a body", () => {
    const { contract } = openPreset(airtable({ secret: SECRET }));
    const outcome = { kind: "success", result: {} } as const;
    expect(contract.respond?.(outcome)).toMatchObject({ status: 200, body: "" });
  });
});

describe("Zendesk's trigger", () => {
  const { contract } = openPreset(zendesk({ secret: SECRET }));

  it("Zendesk's trigger without an invocation is another event where the same text is signed at another time", () => {
    const eventAt = (time: string) =>
      eventsOf(contract, requestOf(TICKET), (body, hasTime) => `${hasTime ? time : ""}${body}`)[0]!;
    expect(eventAt("2026-06-15T12:00:01Z").eventId).not.toBe(eventAt(ISO).eventId);
  });

  it("Zendesk's trigger is read by its signed bytes, whatever its Content-Type says", () => {
    const body = JSON.stringify({ type: "ticket.created", subject: "x&type=ticket.paid&a=" });
    const headers = {
      "X-Zendesk-Webhook-Invocation-Id": "1",
      "Content-Type": "application/x-www-form-urlencoded",
    };
    expect(eventsOf(contract, requestOf(body, { headers }))[0]!.typeOf()).toBe("ticket.created");
    expect(eventsOf(contract, requestOf("type=ticket.paid", { headers }))[0]!.typeOf()).toBe("ticket.paid");
  });
});

it.each([
  ["Shopify", shopify, { "X-Shopify-Topic": "orders/create", "X-Shopify-Triggered-At": "9999-12-31T00:00:00Z" }],
  ["Sentry", sentry, { "Sentry-Hook-Resource": "issue", "Sentry-Hook-Timestamp": "9999999999" }],
  ["Sanity", sanity, { "sanity-operation": "create", "sanity-transaction-time": "2020-01-01T00:00:00Z" }],
] as const)("the time in a header of %s is not signed and no event's time", (_, preset, more) => {
  const contract = openPreset(preset({ secret: SECRET })).contract;
  const headers = { ...more, "X-Shopify-Event-Id": "1", "Request-ID": "1" };
  const { json } = eventsOf(contract, requestOf({ id: 1 }, { headers }))[0]!;
  expect([1577836800, 9999999999, 253402214400]).not.toContain(json.timestamp);
  expect(Object.values(json.headers ?? {})).toContain(Object.values(more)[1]);
});

describe("Shopify's event", () => {
  const contract = openPreset(shopify({ secret: SECRET })).contract;
  const eventOf = (topic: string) =>
    eventsOf(
      contract,
      requestOf({ id: 1 }, { headers: { "X-Shopify-Event-Id": "98880550", "X-Shopify-Topic": topic } }),
    )[0]!;

  it("Shopify's event is one of each topic, though id and bytes are the same", () => {
    const [created, updated] = [eventOf("orders/create"), eventOf("orders/updated")];
    expect(updated.eventId).not.toBe(created.eventId);
    expect(contract.identity).toBe("id");
  });

  it("Shopify's event of the Events API is known by the id of its delivery", () => {
    const headers = { "Shopify-Webhook-Id": "b54557e4", "Shopify-Topic": "Product" };
    const [event] = eventsOf(contract, requestOf({ id: 1 }, { headers }));
    expect([event!.eventId, event!.typeOf()]).toEqual(["b54557e4", "Product"]);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/domain/index.ts";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import {
  auth0,
  chargebee,
  cloudflare,
  figma,
  flutterwave,
  pipedrive,
  postmark,
  revenuecat,
  ringcentral,
  sharepoint,
  telegram,
} from "../../../src/sources/platforms/index.ts";
import { eventsOf } from "../../support/contract.ts";
import { opened, sent } from "../../support/preset-source.ts";

const TOKEN = "the text that both know";
const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

const idsAndTypes = (definition: SourceDefinition, body: JsonValue) =>
  eventsOf(opened(definition).contract, sent(body)).map(({ json }) => [
    String(json.event_id).replace(/^[0-9a-f]{64}$/, "hash"),
    json.event_type,
  ]);

const HEADERS: readonly [string, SourceDefinition, Record<string, string>][] = [
  ["auth0", auth0({ secret: TOKEN }), { Authorization: TOKEN }],
  ["cloudflare", cloudflare({ secret: TOKEN }), { "cf-webhook-auth": TOKEN }],
  ["flutterwave", flutterwave({ secret: TOKEN, verify: "token" }), { "verif-hash": TOKEN }],
  ["revenuecat", revenuecat({ secret: TOKEN }), { Authorization: TOKEN }],
  ["ringcentral", ringcentral({ secret: TOKEN }), { "Verification-Token": TOKEN }],
  ["telegram", telegram({ secret: TOKEN }), { "X-Telegram-Bot-Api-Secret-Token": TOKEN }],
  ["chargebee", chargebee({ secret: TOKEN }), basic("oncehook", TOKEN)],
  ["pipedrive", pipedrive({ secret: TOKEN, user: "crm" }), basic("crm", TOKEN)],
  ["postmark", postmark({ secret: TOKEN }), basic("oncehook", TOKEN)],
];

describe.each(HEADERS)("the preset %s", (_name, source, headers) => {
  const [[header = "", value = ""] = []] = Object.entries(headers);
  const verdictWith = (sentHeaders: Record<string, string>) =>
    opened(source).scheme.verify(sent({ id: "1" }, { headers: sentHeaders }));

  it("a callback with its credential is authentic", async () => {
    expect(await verdictWith(headers)).toMatchObject({ verified: [{ method: "token", index: 0 }] });
  });

  it("a callback with another credential, or with none, is refused", async () => {
    const other = value.startsWith("Basic ") ? basic("oncehook", "another text").Authorization : `${value}.`;
    expect(await verdictWith({ [header]: other ?? "" })).toMatchObject({ code: "token_mismatch" });
    expect(await verdictWith({})).toMatchObject({ code: "token_missing" });
  });

  it("the preset's own sample has the credential", () => {
    const request = { body: Buffer.from("{}"), now: new Date() };
    expect(source.sign?.(request)).toEqual(headers);
  });
});

describe("basic authentication", () => {
  it("basic authentication refuses another user with the right password", async () => {
    const { scheme } = opened(postmark({ secret: TOKEN }));
    expect(await scheme.verify(sent({}, { headers: basic("other", TOKEN) }))).toMatchObject({
      code: "token_mismatch",
    });
  });

  it("a user that is no text, or has a colon, fails the start", () => {
    expect(() => postmark({ secret: TOKEN, user: "" })).toThrow("postmark: `user`: got");
    expect(() => chargebee({ secret: TOKEN, user: "a:b" })).toThrow("chargebee: `user`: got a text with a colon");
  });
});

describe("a platform with a token or a signature", () => {
  it("an unknown way to verify fails the start", () => {
    const wrong = { secret: TOKEN, verify: "none" as never };
    expect(() => revenuecat(wrong)).toThrow('revenuecat: `verify`: got "none", expected token, signature');
  });

  it("a source that was set up for signatures takes no token", async () => {
    const { scheme } = opened(flutterwave({ secret: TOKEN }));
    expect(await scheme.verify(sent({}, { headers: { "verif-hash": TOKEN } }))).toMatchObject({
      code: "signature_missing",
    });
  });
});

describe("ids and types of platforms that sign nothing", () => {
  const pipedriveMeta = {
    action: "change",
    entity: "deal",
    entity_id: "7",
    webhook_id: "12",
    timestamp: "2026-06-15T12:00:00.123Z",
  };

  it.each<[string, SourceDefinition, JsonValue, [string, string][]]>([
    [
      "Auth0",
      auth0({ secret: TOKEN }),
      [
        { log_id: "9002", data: { type: "s", date: "2026-07-08T14:12:38.123Z" } },
        { log_id: "9003", data: { type: "fp", date: "2026-07-08T14:12:39.123Z" } },
      ],
      [
        ["9002", "s"],
        ["9003", "fp"],
      ],
    ],
    [
      "Chargebee",
      chargebee({ secret: TOKEN }),
      { id: "ev_16BHbhF4s42tO2lK", event_type: "customer_created", occurred_at: 1_517_495_314, content: {} },
      [["ev_16BHbhF4s42tO2lK", "customer_created"]],
    ],
    [
      "Cloudflare",
      cloudflare({ secret: TOKEN }),
      { alert_type: "dos_attack_l7", alert_correlation_id: "1", ts: 1_136_214_245 },
      [["hash", "dos_attack_l7"]],
    ],
    ["a test of Cloudflare", cloudflare({ secret: TOKEN }), { text: "Hello World!" }, [["hash", "test"]]],
    [
      "Pipedrive",
      pipedrive({ secret: TOKEN }),
      { meta: { ...pipedriveMeta, attempt: 2 }, data: {}, previous: {} },
      [["12.deal.7.change.2026-06-15T12:00:00.123Z", "change.deal"]],
    ],
    ["a bounce of Postmark", postmark({ secret: TOKEN }), { RecordType: "Bounce", ID: 42 }, [["Bounce.42", "Bounce"]]],
    [
      "a delivery of Postmark",
      postmark({ secret: TOKEN }),
      { RecordType: "Delivery", MessageID: "883953f4" },
      [["hash", "Delivery"]],
    ],
    ["inbound mail of Postmark", postmark({ secret: TOKEN }), { MessageID: "22c7" }, [["hash", "Inbound"]]],
    [
      "RevenueCat",
      revenuecat({ secret: TOKEN }),
      { api_version: "1.0", event: { id: "1234", type: "INITIAL_PURCHASE" } },
      [["1234", "INITIAL_PURCHASE"]],
    ],
    [
      "RingCentral",
      ringcentral({ secret: TOKEN }),
      {
        uuid: "7313",
        event: "/restapi/v1.0/account/~/telephony/sessions",
        timestamp: "2026-06-15T12:00:00Z",
      },
      [["7313", "/restapi/v1.0/account/~/telephony/sessions"]],
    ],
    [
      "Telegram",
      telegram({ secret: TOKEN }),
      { update_id: 397_587_257, message: { message_id: 486 } },
      [["397587257", "message"]],
    ],
    [
      "Flutterwave v3",
      flutterwave({ secret: TOKEN, verify: "token" }),
      { event: "charge.completed", data: { id: 285_959_875, status: "successful" } },
      [["charge.completed.285959875.successful", "charge.completed"]],
    ],
  ])("the ids and types of %s stand where its documentation says", (_name, source, body, expected) => {
    expect(idsAndTypes(source, body)).toEqual(expected);
  });
});

describe("RingCentral's check of an address", () => {
  it("RingCentral's check of an address gets its header back", async () => {
    const request = sent("", { headers: { "Validation-Token": "e8f6-4c1a" } });
    expect(await opened(ringcentral({ secret: TOKEN })).contract.challenge?.(request)).toMatchObject({
      status: 200,
      headers: { "validation-token": "e8f6-4c1a" },
      body: "",
    });
  });
});

describe("Telegram", () => {
  it("a response to Telegram has no body, which Telegram would take for a call of its API", () => {
    const { contract } = opened(telegram({ secret: TOKEN }));
    for (const kind of ["success", "already_processed"] as const)
      expect(contract.respond?.({ kind, result: {} } as never)).toMatchObject({ status: 200, body: "" });
  });
});

describe("Figma", () => {
  const source = figma({ secret: ["passcode", "the previous one"] });
  const event = (over: object = {}) => ({
    event_type: "FILE_UPDATE",
    passcode: "passcode",
    timestamp: "2026-06-15T12:00:00Z",
    webhook_id: "22",
    file_key: "ze0H",
    ...over,
  });
  const verdictOn = (body: JsonValue) => opened(source).scheme.verify(sent(body));

  it("a callback of Figma must hold the passcode as a text", async () => {
    expect(await verdictOn(event())).toMatchObject({ verified: [{ method: "token", index: 0 }] });
    expect(await verdictOn(event({ passcode: "the previous one" }))).toMatchObject({
      verified: [{ index: 1 }],
    });
    expect(await verdictOn(event({ passcode: "other" }))).toMatchObject({ code: "token_mismatch" });
    expect(await verdictOn(event({ passcode: undefined }))).toMatchObject({ code: "token_missing" });
    expect(await verdictOn(event({ passcode: ["passcode"] }))).toMatchObject({ code: "token_missing" });
  });

  it("Figma's PING gets its response after the passcode is verified, and an event has a type", async () => {
    const { contract } = opened(source);
    const ping = sent(event({ event_type: "PING" }));
    expect(contract.challenge).toBeUndefined();
    const found = contract.read(ping);
    expect(found.kind === "handshake" && (await found.respond())).toMatchObject({ status: 200 });
    expect(idsAndTypes(source, event())).toEqual([["hash", "FILE_UPDATE"]]);
  });
});

describe("SharePoint", () => {
  const source = sharepoint({ secret: "client-state" });
  const body = (clientState: string) => ({
    value: [{ subscriptionId: "91779246", clientState, resource: "b9f6f714", webId: "fd3a" }],
  });

  it("a callback of SharePoint must hold the clientState in each notification", async () => {
    const { scheme } = opened(source);
    expect(await scheme.verify(sent(body("client-state")))).toHaveProperty("verified");
    expect(await scheme.verify(sent(body("other")))).toMatchObject({ code: "token_mismatch" });
  });

  it("each notification of SharePoint is an event of its own, also where two are equal", () => {
    const ids = [1, 2].map(() => eventsOf(opened(source).contract, sent(body("client-state")))[0]?.eventId);
    expect(new Set(ids).size).toBe(2);
    expect(opened(source).contract.identity).toBe("delivery");
  });

  it("the validation token of a new SharePoint subscription is returned as text", async () => {
    const request = sent("", { query: "?validationtoken=2f3c" });
    expect(await opened(source).contract.challenge?.(request)).toMatchObject({ status: 200, body: "2f3c" });
  });
});

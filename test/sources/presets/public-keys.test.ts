import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import { discord, PRESETS, sendgrid, telnyx } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const environment = { name: "source", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const ed25519 = generateKeyPairSync("ed25519");
const raw = ed25519.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const spki = p256.publicKey.export({ format: "der", type: "spki" }).toString("base64");

const contractOf = (source: SourceDefinition) => source.createContract(environment);
const seconds = (time: number) => String(Math.floor(time / 1000));

describe("a callback of Discord", () => {
  const contract = contractOf(discord({ publicKey: raw.toString("hex") }));

  it.each([
    [{ id: "1", type: 2, token: "t", version: 1 }, "1", "APPLICATION_COMMAND"],
    [{ id: "1", type: 5, token: "t", version: 1 }, "1", "MODAL_SUBMIT"],
    [{ id: "1", type: 77, token: "t", version: 1 }, "1", "INTERACTION_77"],
    [
      { version: 1, type: 1, event: { type: "ENTITLEMENT_CREATE", timestamp: "2024-10-18T18:41:21.109604" } },
      /^[0-9a-f]{64}$/,
      "ENTITLEMENT_CREATE",
    ],
  ])("a callback of Discord of the form %j has its id and its type", (body, id, type) => {
    const [event] = eventsOf(contract, requestOf(body));
    expect(event?.eventId).toMatch(id);
    expect(event?.typeOf()).toBe(type);
  });

  it("a callback of Discord is responded to with the interaction that a handler returns, and else with nothing", () => {
    const interaction = { type: 4, data: { content: "Hi" } };
    expect(contract.respond?.({ kind: "success", result: interaction })).toMatchObject({
      status: 200,
      body: JSON.stringify(interaction),
    });
    for (const result of [{}, { type: "4" }])
      expect(contract.respond?.({ kind: "success", result })).toMatchObject({ status: 204, body: "" });
    expect(contract.respond?.({ kind: "ignored" })).toMatchObject({ status: 204, body: "" });
  });

  it("a callback of Discord that is forged has the common response, whose status is 401", () => {
    const refusal = { kind: "refused", code: "signature_mismatch", message: "invalid signature" } as const;
    expect(contract.respond?.(refusal)).toBeUndefined();
  });
});

describe("a callback of SendGrid", () => {
  const source = sendgrid({ publicKey: spki });

  it("a callback of SendGrid is signed with the line break at its end, and is an event for each item", () => {
    const items = [
      { email: "a@example.com", timestamp: 1_513_299_569, event: "processed", sg_event_id: "e1" },
      { email: "a@example.com", timestamp: 1_513_299_570, event: "deferred" },
    ];
    const body = `${JSON.stringify(items)}\r\n`;
    const time = seconds(NOW.getTime());
    const headers = {
      "X-Twilio-Email-Event-Webhook-Timestamp": time,
      "X-Twilio-Email-Event-Webhook-Signature": sign("sha256", Buffer.from(time + body), p256.privateKey).toString(
        "base64",
      ),
    };
    const scheme = source.createScheme(environment);
    expect(scheme.verify(requestOf(body, { headers }))).toHaveProperty("verified");
    expect(scheme.verify(requestOf(body.trimEnd(), { headers }))).toMatchObject({
      code: "signature_mismatch",
    });
    const events = eventsOf(contractOf(source), requestOf(body));
    expect(events.map((event) => [event.typeOf(), event.json.timestamp])).toEqual([
      ["processed", 1_513_299_569],
      ["deferred", 1_513_299_570],
    ]);
    expect(events[0]?.eventId).toBe("e1");
    expect(events[1]?.eventId).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("a callback of Telnyx", () => {
  const contract = contractOf(telnyx({ publicKey: raw.toString("base64") }));
  const data = {
    record_type: "event",
    event_type: "call.answered",
    id: "e1",
    occurred_at: "2026-03-04T11:59:00Z",
  };

  it.each([
    [{ data }, "e1", "call.answered"],
    [data, "e1", "call.answered"],
    [{ record_type: "link_clicked", url: "https://telnyx.com" }, /^[0-9a-f]{64}$/, "link_clicked"],
  ])("a callback of Telnyx of the form %j has its id and its type", (body, id, type) => {
    const [event] = eventsOf(contract, requestOf(body));
    expect(event?.eventId).toMatch(id);
    expect(event?.typeOf()).toBe(type);
  });
});

it("a preset that SOURCES names takes the platform's public key for its secret", () => {
  expect(PRESETS.telnyx({ secret: raw.toString("base64") }).preset).toBe("telnyx");
  expect(() => PRESETS.telnyx({ secret: "a key" })).toThrow(TypeError);
});

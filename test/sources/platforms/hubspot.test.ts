import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hmac, hubspot } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const SECRET = "11111111-2222-3333-4444-555555555555";
const NOW = new Date("2026-03-04T12:00:00Z");
const environment = { name: "hubspot", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const scheme = hubspot({ secret: SECRET }).createScheme(environment);
const contract = hubspot({ secret: SECRET }).createContract(environment);

const EVENT = {
  eventId: 100,
  subscriptionId: 11,
  portalId: 62515,
  occurredAt: 1_772_625_540_123,
  subscriptionType: "contact.creation",
  attemptNumber: 0,
};

describe("a callback of HubSpot", () => {
  it("a callback of HubSpot is signed over its address with escaped separators decoded, and nothing else decoded", () => {
    const target = "/api/hubspot/callback?next=%2Fhome%3fa%3A1&name=Zo%C3%AB%26%25";
    const signed = "https://hooks.example.com/api/hubspot/callback?next=/home?a:1&name=Zo%C3%AB%26%25";
    const timestamp = String(NOW.getTime());
    const text = `POST${signed}[]${timestamp}`;
    const headers = {
      "X-HubSpot-Signature-v3": createHmac("sha256", SECRET).update(text).digest("base64"),
      "X-HubSpot-Request-Timestamp": timestamp,
    };
    expect(scheme.verify(requestOf("[]", { target, headers }))).toHaveProperty("verified");
  });

  it("an id in a signed query is one id in every spelling that the signature fits", () => {
    const source = hmac({
      ...{ secret: SECRET, signed: "{decodedUrl}{body}", id: "query.id", type: "=order.placed" },
      signature: { header: "X-Signature", encoding: "hex" },
    });
    const own = { scheme: source.createScheme(environment), contract: source.createContract(environment) };
    const at = (query: string) => `/api/hubspot/callback?${query}`;
    const signature = createHmac("sha256", SECRET).update(`https://hooks.example.com${at("id=a:b")}{}`);
    const headers = { "X-Signature": signature.digest("hex") };
    const ids = ["id=a:b", "id=a%3Ab", "id=a%3ab", "id=%61:b", "%69d=a:b", "&id=a:b"].map((query) => {
      const request = requestOf("{}", { target: at(query), headers });
      const result = own.scheme.verify(request);
      return "verified" in result ? eventsOf(own.contract, request)[0]?.eventId : "refused";
    });
    expect(ids).toEqual(["a:b", "a:b", "a:b", "refused", "refused", "refused"]);
  });

  it("a callback of HubSpot has an event for each notification, of one id in every attempt", () => {
    const ids = [EVENT, { ...EVENT, attemptNumber: 3 }].map((event) => {
      const other = { ...event, subscriptionId: 12, subscriptionType: "contact.propertyChange" };
      return eventsOf(contract, requestOf([event, other])).map(({ eventId }) => eventId);
    });
    expect(ids[0]).toEqual(["100.11.1772625540123", "100.12.1772625540123"]);
    expect(ids[1]).toEqual(ids[0]);
  });

  it("a callback of HubSpot has an event for each object, though their other numbers are the same", () => {
    const objects = [{ objectId: 1 }, { objectId: 2 }, { fromObjectId: 1, toObjectId: 2 }];
    const ids = eventsOf(contract, requestOf(objects.map((more) => ({ ...EVENT, ...more })))).map(
      ({ eventId }) => eventId,
    );
    expect(ids).toEqual(["1", "2", "1.2"].map((end) => `100.11.1772625540123.${end}`));
  });
});

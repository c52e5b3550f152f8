import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/domain/index.ts";
import type { ContractData } from "../../../src/sources/contract/event-contract.ts";
import { hmac } from "../../../src/sources/platforms/index.ts";
import { contractOf, eventsOf, requestOf } from "../../support/contract.ts";
import { verifiedEvents } from "../../support/preset.ts";

const UNSIGNED = { id: "header.X-Id", type: "=order" } as const;

function keysOf(data: Partial<ContractData>, sent: readonly [body: JsonValue, headers?: Record<string, string>][]) {
  const contract = contractOf({ ...UNSIGNED, ...data });
  return sent.flatMap(([body, headers = {}]) =>
    eventsOf(contract, requestOf(body, { headers })).map(({ eventId }) => eventId),
  );
}

const differ = (keys: readonly unknown[]) => new Set(keys).size === keys.length;
const agree = (keys: readonly unknown[]) => new Set(keys).size === 1;

describe("the key of an event whose id is not signed", () => {
  it("the key of an event is the platform's id unless the source says otherwise, whatever its bytes", () => {
    const sent = [[{ n: 1 }, { "X-Id": "a" }] as const, [{ n: 1 }, { "X-Id": "b" }] as const];
    expect(keysOf({}, [...sent, ...sent] as never)).toEqual(["a", "b", "a", "b"]);
  });

  it("the key of an event is the hash of its bytes with `bytes`, under any id, which handlers see as a header", () => {
    const contract = contractOf({ ...UNSIGNED, identity: "bytes" });
    const [one, retry] = ["a", "b"].map(
      (id) => eventsOf(contract, requestOf({ n: 1 }, { headers: { "X-Id": id } }))[0],
    );
    expect(one?.eventId).toMatch(/^[0-9a-f]{64}$/);
    expect(retry?.eventId).toBe(one?.eventId);
    expect([one?.json.headers, retry?.json.headers]).toEqual([{ "x-id": "a" }, { "x-id": "b" }]);
    expect(keysOf({ identity: "bytes" }, [[{ n: 2 }]])).not.toEqual([one?.eventId]);
  });

  it("the key of an event with `bytes` differs for one body in two scopes", () => {
    const data = { identity: "bytes", bytesScope: "header.X-Topic" } as const;
    const keys = ["create", "update"].map((topic) => keysOf(data, [[{ n: 1 }, { "X-Topic": topic }]])[0]);
    expect(differ(keys)).toBe(true);
  });

  it("the key of an event with `bytes` leaves out the fields that count attempts, in a body and in an item", () => {
    const body = { identity: "bytes", attemptFields: ["body.retries", "body.meta.attempt"] } as const;
    const tries = [0, 1].map((n) => [{ a: 1, retries: n, meta: { b: 2, attempt: n } }] as [JsonObject]);
    expect(agree(keysOf(body, tries))).toBe(true);
    expect(agree(keysOf(body, [...tries, [{ a: 2, retries: 0, meta: { b: 2, attempt: 0 } }]]))).toBe(false);
    const item = { ...body, attemptFields: ["item.try"], batch: { at: "body" } } as const;
    expect(agree(keysOf(item, [[[{ a: 1, try: 1 }]], [[{ a: 1, try: 2 }]], [[{ a: 1 }]]]))).toBe(true);
  });

  it("each delivery is an event with `delivery`, and each item of a batch", () => {
    expect(differ(keysOf({ identity: "delivery" }, [[{ n: 1 }], [{ n: 1 }]]))).toBe(true);
    const batch = { identity: "delivery", batch: { at: "body" } } as const;
    expect(differ(keysOf(batch, [[[{ n: 1 }, { n: 1 }]]]))).toBe(true);
  });

  it("callbacks that cannot be parsed are named by their bytes, also where fields that count attempts are left out", () => {
    const contract = contractOf({ ...UNSIGNED, attemptFields: ["body.retries"] });
    const name = (text: string) => contract.identify({ ...requestOf({}), body: Buffer.from(text) });
    expect([name("{a"), name("{a") === name("{b")]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), false]);
    expect(name('{"a":1,"retries":1}')).toBe(name('{"a":1,"retries":2}'));
  });

  it.each([
    ["a signed id", { id: "body.id", identity: "bytes" }, "the id is signed"],
    ["a sender without an id", { id: "sha256", identity: "id" }, 'expected "bytes" or "delivery"'],
  ] as const)("an identity that %s has no use for is refused at the start", (_, data, message) => {
    expect(() => contractOf({ ...UNSIGNED, ...data })).toThrow(message);
  });

  it("a setting `identity` of another word is refused with the words that exist", () => {
    const source = () => hmac({ ...OWN, identity: "body" as never });
    expect(source).toThrow('`identity`: got "body", expected "id", "bytes" or "delivery"');
  });
});

const OWN = {
  secret: "the secret of an own source 1234",
  signature: { header: "X-Signature", encoding: "hex" },
  signed: "{timestamp}.{body}",
  timestamp: { header: "X-Time", unit: "seconds", toleranceSeconds: null },
  ...UNSIGNED,
  identity: "bytes",
} as const;

describe("the bytes that were signed, of a source", () => {
  const keyAt = async (source: ReturnType<typeof hmac>, seconds: number, sent: JsonObject, headers = {}) => {
    const body = Buffer.from(JSON.stringify(sent));
    const given = { "X-Time": String(seconds), ...headers };
    const signed = source.sign?.({ body, headers: given, target: "/hooks", now: new Date(seconds * 1_000) });
    const request = requestOf(sent, { headers: { ...given, ...signed } });
    return (await verifiedEvents(source, { ...request, target: "/hooks" }))[0]?.eventId;
  };

  it("two bodies that are equal and signed at two times are two events, since nobody says that a retry renews the time", async () => {
    const source = hmac(OWN);
    expect(await keyAt(source, 1_000, { n: 1 })).not.toBe(await keyAt(source, 2_000, { n: 1 }));
    expect(await keyAt(source, 1_000, { n: 1 })).toBe(await keyAt(source, 1_000, { n: 1 }));
  });

  it.each([
    ["a retry is known to renew it", { renewsTimestamp: true }],
    ["the event's own time stands in the body", { eventTime: { at: "body.at", unit: "seconds" } }],
  ] as const)("the signed time is left out where %s", async (_, over) => {
    const source = hmac({ ...OWN, ...over });
    expect(await keyAt(source, 1_000, { at: 1 })).toBe(await keyAt(source, 2_000, { at: 1 }));
    expect(await keyAt(source, 1_000, { at: 1 })).not.toBe(await keyAt(source, 1_000, { at: 2 }));
  });

  it("a signed time stays where the sender is known to repeat it, though the body has a time", async () => {
    const source = hmac({ ...OWN, renewsTimestamp: false, eventTime: { at: "body.at", unit: "seconds" } });
    expect(await keyAt(source, 1_000, { at: 1 })).not.toBe(await keyAt(source, 2_000, { at: 1 }));
  });

  it("a callback without a body is known by what else is signed", async () => {
    const source = hmac({
      ...OWN,
      body: "none",
      signed: "{timestamp}.{header.X-Order}",
      renewsTimestamp: true,
    });
    const [one, retry, other] = await Promise.all([
      keyAt(source, 1_000, {}, { "X-Order": "1" }),
      keyAt(source, 2_000, {}, { "X-Order": "1" }),
      keyAt(source, 1_000, {}, { "X-Order": "2" }),
    ]);
    expect([one === retry, one === other]).toEqual([true, false]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/domain/index.ts";
import type { ContractData } from "../../../src/sources/contract/event-contract.ts";
import { parseEvent, sha256Hex } from "../../../src/sources/index.ts";
import { contractOf, eventsOf, RECEIVED, requestOf } from "../../support/contract.ts";

const SIMPLE: ContractData = { id: "body.id", type: "body.type" };
const BATCH: ContractData = { id: "item.id", type: "item.type", batch: { at: "body.events" } };
const batchOf = (...events: JsonValue[]) => requestOf({ events });

describe("the envelope of an event", () => {
  it("the envelope of an event holds id, type, the time of receipt and the whole body as data", () => {
    const body = { id: "1", type: "paid", n: 2 };
    const [event] = eventsOf(contractOf(SIMPLE), requestOf(body));
    expect(event).toMatchObject({
      eventId: "1",
      json: { event_id: "1", event_type: "paid", timestamp: RECEIVED, data: body },
      bodySha256: sha256Hex(Buffer.from(JSON.stringify(body))),
    });
  });

  it("the envelope of an event is written once, when its bytes are asked for", () => {
    const [event] = eventsOf(contractOf(SIMPLE), requestOf({ id: "1", type: "paid" }));
    expect(event!.body).toBe(event!.body);
    expect(parseEvent(event!.body)).toEqual({ object: event!.json });
  });

  it("the envelope of an event comes back through the parser of stored events, whatever JSON the payload is", () => {
    const contract = contractOf({ id: "sha256", type: "=any", headers: ["X-A"] });
    const value = fc.jsonValue().filter((json) => !/"(__proto__|constructor)"/.test(JSON.stringify(json)));
    fc.assert(
      fc.property(
        fc.oneof(fc.dictionary(fc.string(), value, { noNullPrototype: true }), fc.array(value)),
        (payload) => {
          const text = JSON.stringify(payload);
          if (/"(__proto__|constructor)"/.test(text)) return;
          const [event] = eventsOf(contract, requestOf(text, { headers: { "X-A": "1" } }));
          const stored = parseEvent(event!.body);
          expect(stored).toEqual({ object: event!.json });
          const data = Array.isArray(payload) ? { items: JSON.parse(text) } : JSON.parse(text);
          // JSON has one zero.
          expect(JSON.stringify(event!.json.data)).toBe(JSON.stringify(data));
        },
      ),
    );
  });

  it("the envelope of an event of the deepest payload that is taken can be stored and parsed again", () => {
    const contract = contractOf({ id: "sha256", type: "=any" });
    const deep = (levels: number) => requestOf("[".repeat(levels) + "]".repeat(levels));
    const [event] = eventsOf(contract, deep(62));
    expect(parseEvent(event!.body)).toHaveProperty("object");
    expect(contract.read(deep(63))).toMatchObject({ code: "body_too_deep" });
  });

  it("the envelope of an event keeps a number with all its digits, as an id and in data", () => {
    const [event] = eventsOf(
      contractOf(SIMPLE),
      requestOf('{"id":12345678901234567890,"type":"t","n":0.12345678901234567891}'),
    );
    expect(event).toMatchObject({
      eventId: "12345678901234567890",
      json: { data: { n: "0.12345678901234567891" } },
    });
  });

  it("the envelope of an event shows selected headers, and never the `headers` of the platform's body", () => {
    const body = { id: "1", type: "t", headers: { "x-topic": "forged" } };
    const headers = { "X-Topic": "orders/paid", "X-List": ["a", "b"], "X-Other": "1" };
    const [without] = eventsOf(contractOf(SIMPLE), requestOf(body, { headers }));
    expect(without!.json).not.toHaveProperty("headers");
    const shown = contractOf({ ...SIMPLE, headers: ["X-Topic", "X-List", "X-Absent"] });
    const [event] = eventsOf(shown, requestOf(body, { headers }));
    expect(event!.json.headers).toEqual({ "x-topic": "orders/paid", "x-list": "a, b" });
  });

  it("the envelope of an event has the payload from the first place that is there", () => {
    const contract = contractOf({ ...SIMPLE, data: ["body.data.object", "body.data"] });
    const dataOf = (data: JsonValue) => eventsOf(contract, requestOf({ id: "1", type: "t", data }))[0]!.json.data;
    expect([dataOf({ object: { a: 1 } }), dataOf({ b: 2 }), dataOf([1]), dataOf("text")]).toEqual([
      { a: 1 },
      { b: 2 },
      { items: [1] },
      { value: "text" },
    ]);
  });
});

describe("the time of an event", () => {
  const timeOf = (unit: "seconds" | "milliseconds" | "iso", at: JsonValue) =>
    eventsOf(contractOf({ ...SIMPLE, eventTime: { at: "body.at", unit } }), requestOf({ id: "1", type: "t", at }))[0]!
      .json.timestamp;

  it.each([
    ["seconds", 1_700_000_000, 1_700_000_000],
    ["seconds", "1355517523.000005", 1_355_517_523],
    ["milliseconds", 1_700_000_000_999, 1_700_000_000],
    ["milliseconds", "1700000000999", 1_700_000_000],
    ["iso", "2023-11-14T22:13:20Z", 1_700_000_000],
    ["iso", "2023-11-14T22:13:20.123456789Z", 1_700_000_000],
    ["iso", "2023-11-14 23:13:20+0100", 1_700_000_000],
    ["iso", "2023-11-14T17:13:20.9-05:00", 1_700_000_000],
    ["iso", "2023-11-14T22:13:20.123", 1_700_000_000],
    ["iso", "2023-11-14 22:13:20 UTC", 1_700_000_000],
    ["iso", "2023-11-14T22:13Z", 1_699_999_980],
    ["iso", "2023-11-14T23:13:20+01", 1_700_000_000],
    ["iso", 1_700_000_000, 1_700_000_000],
    ["iso", "1700000000999", 1_700_000_000],
    ["seconds", "2023-11-14T22:13:20.123Z", 1_700_000_000],
    ["seconds", 1_700_000_000_999, 1_700_000_000],
    ["milliseconds", 1_700_000_000_999_999, 1_700_000_000],
    ["seconds", "1700000000000000001", 1_700_000_000],
  ] as const)("a time in %s of %j is whole seconds, rounded down", (unit, at, seconds) => {
    expect(timeOf(unit, at)).toBe(seconds);
  });

  it.each([
    ["seconds", null],
    ["seconds", "soon"],
    ["seconds", -1],
    ["seconds", 1e11],
    ["seconds", "1e3"],
    ["iso", "2023-11-14"],
    ["iso", "2023-99-14T22:13:20Z"],
    ["iso", "2023-11-14T22:13:20 EST"],
  ] as const)("a value that is no time in %s becomes the time of receipt: %j", (unit, at) => {
    expect(timeOf(unit, at)).toBe(RECEIVED);
  });
});

describe("a time that does not count", () => {
  const timeAt = (at: string, isSigned?: boolean) => {
    const eventTime = { at, unit: "seconds", ...(isSigned !== undefined && { isSigned }) } as const;
    const request = requestOf(
      { id: "1", type: "t", at: RECEIVED - 60 },
      { headers: { "X-Time": String(RECEIVED - 60) }, target: `/?at=${RECEIVED - 60}` },
    );
    return eventsOf(contractOf({ ...SIMPLE, eventTime }), request)[0]!.json.timestamp;
  };

  it.each([["header.X-Time"], ["query.at"]])("a time at %s counts only where it is signed", (at) => {
    expect(timeAt(at)).toBe(RECEIVED);
    expect(timeAt(at, true)).toBe(RECEIVED - 60);
  });

  it("a time in the body counts unless the body's own time is not signed", () => {
    expect(timeAt("body.at")).toBe(RECEIVED - 60);
    expect(timeAt("body.at", false)).toBe(RECEIVED);
  });

  it("a time that is more than five minutes ahead is the time of receipt", () => {
    const of = (at: number) =>
      eventsOf(
        contractOf({ ...SIMPLE, eventTime: { at: "body.at", unit: "seconds" } }),
        requestOf({ id: "1", type: "t", at }),
      )[0]!.json.timestamp;
    expect(of(RECEIVED + 300)).toBe(RECEIVED + 300);
    for (const at of [RECEIVED + 302, 253_402_300_799]) expect(of(at)).toBe(RECEIVED);
  });
});

describe("an event that lacks something", () => {
  it("an event without an id is refused, and the message names the platform's place", () => {
    expect(contractOf(SIMPLE).read(requestOf({ type: "t" }))).toMatchObject({
      code: "event_id_invalid",
      message: "id: missing; expected a text or an integer",
    });
  });

  it("an event without its header is refused, and the message names the header", () => {
    const contract = contractOf({ id: "header.X-GitHub-Delivery", type: "header.X-GitHub-Event" });
    expect(contract.read(requestOf({}))).toMatchObject({
      code: "event_id_invalid",
      message: "the X-GitHub-Delivery header: missing; expected a text or an integer",
    });
  });

  it("an event whose id's header stands twice is refused", () => {
    const contract = contractOf({ id: "header.X-Id", type: "=t" });
    expect(contract.read(requestOf({}, { headers: { "X-Id": ["1", "2"] } }))).toMatchObject({
      code: "event_id_invalid",
      message: expect.stringContaining("stands more than once"),
    });
  });

  it("an event without a type is refused", () => {
    expect(contractOf(SIMPLE).read(requestOf({ id: "1" }))).toMatchObject({
      code: "event_type_missing",
      message: "type: missing; expected a text or an integer",
    });
  });

  it("an event without its payload is refused", () => {
    const contract = contractOf({ ...SIMPLE, data: "body.data.object" });
    expect(contract.read(requestOf({ id: "1", type: "t" }))).toMatchObject({
      code: "event_invalid",
      message: "data.object: missing",
    });
  });
});

describe("a batch", () => {
  it("a batch is an event for each item, with the item as data and its own hash", () => {
    const items = [
      { id: "1", type: "a" },
      { id: 2, type: "b" },
    ];
    const events = eventsOf(contractOf(BATCH), batchOf(...items));
    expect(events.map(({ eventId, typeOf, json }) => [eventId, typeOf(), json.data])).toEqual([
      ["1", "a", items[0]],
      ["2", "b", items[1]],
    ]);
    expect(events[1]!.bodySha256).toBe(sha256Hex(Buffer.from('{"id":2,"type":"b"}')));
  });

  it("an id that stands twice in a batch is one event, with the data of its first item", () => {
    const items = [
      { id: "1", type: "a" },
      { id: "2", type: "a" },
      { id: "1", type: "b" },
    ];
    const events = eventsOf(contractOf(BATCH), batchOf(...items));
    expect(events.map(({ json }) => json.data)).toEqual(items.slice(0, 2));
  });

  it("items whose id has their hash are different events, however often they are sent and in whatever order", () => {
    const hashed = contractOf({ ...BATCH, id: "{item.id}.{sha256}" });
    const item = fc.record({ id: fc.constantFrom("1", "2"), type: fc.constant("t"), n: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), (items) => {
        const ids = (sent: JsonValue[]) => eventsOf(hashed, batchOf(...sent)).map(({ eventId }) => eventId);
        expect(ids(items)).toHaveLength(new Set(items.map((one) => JSON.stringify(one))).size);
        expect(ids(items.toReversed()).toSorted()).toEqual(ids(items).toSorted());
        for (const one of items) expect(ids(items)).toContain(ids([one])[0]);
      }),
    );
  });

  it.each([{ events: [] }, {}])("a batch that is empty is answered with success: %j", async (body) => {
    const read = contractOf(BATCH).read(requestOf(body));
    expect(read.kind === "handshake" && (await read.respond())).toMatchObject({
      status: 200,
      body: '{"status":"success"}',
    });
  });

  it("a batch that is empty has the platform's own response", async () => {
    const read = contractOf({ ...BATCH, responses: { success: { status: 204 } } }).read(batchOf());
    expect(read.kind === "handshake" && (await read.respond())).toMatchObject({ status: 204, body: "" });
  });

  it("a batch without its array is refused, and the message names the place", () => {
    for (const body of [{ event: 1 }, { events: {} }, { events: "x" }]) {
      expect(contractOf(BATCH).read(requestOf(body))).toMatchObject({
        code: "event_invalid",
        message: expect.stringMatching(/^events: /),
      });
    }
  });

  it("a batch with an invalid item has the other ones, and a message that names the item", () => {
    const read = contractOf(BATCH).read(batchOf({ id: "1", type: "a" }, { type: "b" }));
    expect(read).toMatchObject({ kind: "batch", events: [{ eventId: "1" }] });
    expect(read).toMatchObject({
      invalid: {
        code: "event_id_invalid",
        message: "event 1 of the batch: id: missing; expected a text or an integer",
      },
    });
  });

  it("a batch takes 10,000 events and no more", () => {
    const items = (count: number) => batchOf(...Array.from({ length: count }, (_, id) => ({ id, type: "t" })));
    expect(eventsOf(contractOf(BATCH), items(10_000))).toHaveLength(10_000);
    expect(contractOf(BATCH).read(items(10_001))).toMatchObject({ code: "body_malformed" });
  });

  it("a batch takes the events of several places, in their order", () => {
    const contract = contractOf({
      id: "item.id",
      type: "=t",
      batch: { at: ["body.entry[].changes", "body.entry[].messaging[]"] },
    });
    const body = { entry: [{ messaging: [{ id: "m1" }] }, { changes: [{ id: "c1" }, { id: "c2" }] }] };
    expect(eventsOf(contract, requestOf(body)).map(({ eventId }) => eventId)).toEqual(["c1", "c2", "m1"]);
  });

  const NESTED: ContractData = { id: "item.id", type: "=t", batch: { at: "body.orders[].lines[]" } };
  const MISSING_LINES = {
    code: "event_invalid",
    message: "orders[].lines[]: missing in an element that holds events, expected an array or an object",
  };

  it.each<JsonValue>([{ id: "o1" }, { lines: null }, { lines: "l1" }, { lines: 1 }, null, "o1", []])(
    "an element without the inner array of a batch is kept as invalid, alone and beside others: %j",
    (order) => {
      expect(contractOf(NESTED).read(requestOf({ orders: [order] }))).toMatchObject(MISSING_LINES);
      const beside = contractOf(NESTED).read(requestOf({ orders: [order, { lines: [{ id: "l2" }] }] }));
      expect(beside).toMatchObject({ kind: "batch", events: [{ eventId: "l2" }], invalid: MISSING_LINES });
    },
  );

  it("an inner object is a batch of one, at each level, and a value of another kind beside it is kept", () => {
    const at = ["body.a[].b[].c[]", "body.a[].d[]"];
    const contract = contractOf({ ...NESTED, batch: { at } });
    const ids = (body: JsonValue) => eventsOf(contract, requestOf(body)).map(({ eventId }) => eventId);
    expect(ids({ a: [{ b: { c: { id: 1 } } }, { b: [{ c: [{ id: 2 }] }], d: { id: 3 } }] })).toEqual(["1", "2", "3"]);
    for (const a of [
      { b: "x", d: [{ id: 1 }] },
      { b: [{}], d: [{ id: 1 }] },
    ])
      expect(contract.read(requestOf({ a: [a] }))).toMatchObject({ kind: "batch", invalid: {} });
  });

  it("an empty array in each element of a batch is a keep-alive as an empty outer one is", () => {
    for (const orders of [[], [{ lines: [] }]])
      expect(contractOf(NESTED).read(requestOf({ orders }))).toMatchObject({ kind: "handshake" });
  });

  it.each(["", "events", "header.X", "body.[]", "body.a[b]", "bodyevents"])(
    "a batch at a text that is no place stops the start: %j",
    (at) => {
      expect(() => contractOf({ ...BATCH, batch: { at } })).toThrow(TypeError);
    },
  );
});

describe("a contract", () => {
  it("a contract says whether its ids lie in the signed bytes, unless the preset knows better", () => {
    const identity = (data: Partial<ContractData>) => contractOf({ ...SIMPLE, ...data }).identity;
    expect([
      identity({}),
      identity({ id: ["body.id", "sha256"] }),
      identity({ id: "header.X-Id" }),
      identity({ id: "header.webhook-id", isIdSigned: true }),
      identity({ id: "sha256" }),
    ]).toEqual(["signed-id", "signed-id", "id", "signed-id", "bytes"]);
  });

  it("a contract ignores types without a handler unless told to refuse them", () => {
    expect([contractOf(SIMPLE).unhandled, contractOf({ ...SIMPLE, unhandled: "refuse" }).unhandled]).toEqual([
      "ignore",
      "refuse",
    ]);
  });

  it("a contract never throws, whatever is in a body", { tags: "full" }, () => {
    const contracts = [
      contractOf({ ...SIMPLE, eventTime: { at: "body.at", unit: "iso" }, data: "body.data" }),
      contractOf({ id: ["item.id", "sha256"], type: ["item.type", "=t"], batch: { at: "body" } }),
      contractOf({ id: "{parent.id}-{item.id}", type: "=t", batch: { at: "body.entry[].changes[]" } }),
      contractOf({ ...SIMPLE, body: "form" }),
    ];
    const keys = fc.constantFrom("id", "type", "at", "data", "entry", "changes", "headers", "toString", "__proto__");
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue(),
        fc.dictionary(keys, tie("any")),
        fc.array(tie("any"), { maxLength: 3 }),
      ),
    })).any;
    const hostile = fc.oneof(
      fc.uint8Array(),
      value.map((json) => Buffer.from(JSON.stringify(json))),
    );
    fc.assert(
      fc.property(hostile, fc.webPath(), (body, target) => {
        for (const contract of contracts) {
          const read = contract.read(requestOf(body, { target }));
          expect(["event", "batch", "handshake", "refused"]).toContain(read.kind);
          if (read.kind === "event") expect(parseEvent(read.event.body)).toHaveProperty("object");
        }
      }),
    );
  });
});

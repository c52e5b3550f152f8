import { describe, expect, it } from "vitest";
import { claimOf, eachValue, matchCallback, parseSearchQuery } from "../../src/domain/index.ts";
import { logRow } from "../support/log-row.ts";

const ROW = logRow({
  requestId: "req-7",
  eventId: "evt_1",
  url: "/hooks/shop-9?order=Order-123&x=1",
  requestHeaders: JSON.stringify({
    "x-github-delivery": "72d3162e-cc78",
    "user-agent": "GitHub-Hookshot/1",
    host: "h1",
  }),
  requestBody: JSON.stringify({
    data: { customer: "cus_1", amount: 1250, items: [{ sku: "A-1" }, { sku: "B\u00e9-2" }] },
    note: 'He said "hello there" to 4 people',
    inner: JSON.stringify({ deep: { id: "inner-5" } }),
    live: true,
    secret: "[masked]",
  }),
});

const match = (query: string, row = ROW) => matchCallback(row, parseSearchQuery(query, new Date()).terms);

describe("a callback", () => {
  it("a callback has its ids, its address, ids of its URL and headers, and each leaf of its body as values", () => {
    const found: string[] = [];
    eachValue(ROW, (value, where) => found.push(`${where()} = ${value}`));
    expect(found).toEqual([
      "event_id = evt_1",
      "request_id = req-7",
      "remote_address = 127.0.0.1",
      "url = shop-9",
      "query order = Order-123",
      "query x = 1",
      "header x-github-delivery = 72d3162e-cc78",
      "data.customer = cus_1",
      "data.amount = 1250",
      "data.items.0.sku = A-1",
      "data.items.1.sku = Bé-2",
      'note = He said "hello there" to 4 people',
      "inner.deep.id = inner-5",
      "live = true",
    ]);
  });

  it.each([
    ["CUS_1", { kind: "exact", where: "data.customer", value: "cus_1" }],
    ["order-12", { kind: "prefix", where: "query order", value: "Order-123" }],
    ["hello", { kind: "text", where: "note", value: 'He said "hello there" to 4 people' }],
    ['"items\\":"', { kind: "text", where: "body", value: expect.stringContaining('"items":[') }],
    ["items.sku:a-1", { kind: "exact", where: "data.items.0.sku", value: "A-1" }],
    ["data.amount:125*", { kind: "prefix", where: "data.amount", value: "1250" }],
    ["id:evt_1", { kind: "exact", where: "event_id", value: "evt_1" }],
    ["live:true", { kind: "exact", where: "live", value: "true" }],
    ["cus_1 hello", { kind: "text", where: "data.customer", value: "cus_1" }],
  ])("matches %s by the best place", (query, expected) => {
    expect(match(query)).toEqual(expected);
  });

  it.each(["nowhere", "data.amount:125", "customer.data:cus_1", "id:cus_1", "cus_1 nowhere"])(
    "does not match %s",
    (query) => {
      expect(match(query)).toBeUndefined();
    },
  );

  it("a callback that is a form has each field as a value, and the JSON inside of one", () => {
    const row = logRow({ requestBody: 'email=ada%40example.com&payload={"id":"p-77"}' });
    expect(match("ada@example.com", row)).toEqual({ kind: "exact", where: "email", value: "ada@example.com" });
    expect(match("payload.id:p-77", row)).toEqual({ kind: "exact", where: "payload.id", value: "p-77" });
  });

  it("a callback that was cut off is read up to there", () => {
    expect(match("cus_1", logRow({ requestBody: '{"a":{"b":"cus_1"},"c":"unfinis' }))?.where).toBe("a.b");
  });

  it("a refused callback claims the id and the type of its headers, or of its body", () => {
    const refused = { eventId: null, eventType: null, outcome: "signature_mismatch" } as const;
    const headers = JSON.stringify({ "x-github-delivery": "d-1", "x-github-event": "push" });
    expect(claimOf(logRow({ ...refused, requestHeaders: headers }))).toEqual({ eventId: "d-1", eventType: "push" });
    const stripe = logRow({ ...refused, requestBody: '{"id":"evt_9","type":"invoice.paid"}' });
    expect(claimOf(stripe)).toEqual({ eventId: "evt_9", eventType: "invoice.paid" });
    expect(match("id:evt_9", stripe)).toMatchObject({ kind: "exact", where: "id" });
    expect(claimOf(logRow(refused))).toBeUndefined();
    expect(claimOf(ROW)).toBeUndefined();
  });
});

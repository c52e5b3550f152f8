import { describe, expect, it } from "vitest";
import { outcomesOfGroup, parseSearchQuery } from "../../src/domain/index.ts";

const NOW = new Date("2026-11-26T12:00:00.000Z");
const read = (text: string) => parseSearchQuery(text, NOW);

describe("a search query", () => {
  it.each([
    ["Order-123", [{ value: "order-123", match: "any" }]],
    [
      '"Jane Doe" jane@example.com',
      [
        { value: "jane doe", match: "any" },
        { value: "jane@example.com", match: "any" },
      ],
    ],
    ["https://example.com/a", [{ value: "https://example.com/a", match: "any" }]],
    ["gid://shopify/Order/1", [{ value: "gid://shopify/order/1", match: "any" }]],
    ['"urn:x"', [{ value: "urn:x", match: "any" }]],
    ["id:evt_1", [{ value: "evt_1", place: { column: "event_id" }, match: "value" }]],
    ["request:r1", [{ value: "r1", place: { column: "request_id" }, match: "value" }]],
    ["data.object.customer:cus_1", [{ value: "cus_1", place: { path: "data.object.customer" }, match: "value" }]],
    ["amount:12*", [{ value: "12", place: { path: "amount" }, match: "beginning" }]],
    [".status:paid", [{ value: "paid", place: { path: "status" }, match: "value" }]],
    ['name:"Jane Doe"', [{ value: "jane doe", place: { path: "name" }, match: "value" }]],
  ])("%s asks for its values", (text, terms) => {
    expect(read(text)).toEqual({ filter: {}, terms });
  });

  it.each([
    ["source:stripe type:invoice.paid", { source: "stripe", eventType: "invoice.paid" }],
    ["type:invoice.*", { eventTypePrefix: "invoice." }],
    ["status:500", { statuses: [500, 500] }],
    ["status:4xx address:192.0.2.1", { statuses: [400, 499], remoteAddress: "192.0.2.1" }],
    ["since:3d", { from: "2026-11-23T12:00:00.000Z" }],
    ["until:2026-11-20", { to: "2026-11-20T00:00:00.000Z" }],
    ["since:2026-11-20T10:00+01:00", { from: "2026-11-20T09:00:00.000Z" }],
    ["since:2026-11-20T10:00", { from: "2026-11-20T10:00:00.000Z" }],
    ["outcome:duplicate,ignored", { outcomes: ["already_processed", "ignored"] }],
    ["outcome:signature_mismatch", { outcomes: ["signature_mismatch"] }],
    ["source:a source:b", { source: "b" }],
  ])("%s is a filter of the log", (text, filter) => {
    expect(read(text)).toEqual({ filter, terms: [] });
  });

  it("outcome:failed and outcome:refused stand for every outcome of their statuses", () => {
    expect(read("outcome:failed").filter.outcomes).toEqual(outcomesOfGroup("failed"));
    expect(outcomesOfGroup("failed")).toContain("handler_failed");
    expect(outcomesOfGroup("refused")).toContain("signature_mismatch");
  });

  it.each([
    ["soruce:stripe", /^soruce: there is no such filter, expected one of source, .+ did you mean source:\?/],
    ["event_id:1", /^event_id: there is no such filter.+did you mean id:\?/],
    ["status:9xx", /^status: got "9xx", expected a status such as 401, or a class such as 4xx$/],
    ["since:yesterday", /^since: got "yesterday", expected a time ago such as 30m/],
    ["since:2026-02-30", /^since: got "2026-02-30", expected a time ago such as 30m/],
    ["outcome:faild", /^outcome: got "faild", expected handled, .+; did you mean outcome:failed\?$/],
    ["a b c d e f g h i", /^q: got 9 values, expected at most 8$/],
  ])("%s is refused with the filter, what was expected and the nearest name", (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

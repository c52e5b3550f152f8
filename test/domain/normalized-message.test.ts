import { expect, it } from "vitest";
import { normalizedMessage } from "../../src/domain/index.ts";

it.each([
  ["no order order-123 of anna@example.com", "no order <id> of <address>"],
  ["timeout after 700 ms", "timeout after <n> ms"],
  ["TypeError: cannot read 'sku' of evt_1T60300x", "TypeError: cannot read <value> of <id>"],
  ["UNIQUE constraint failed: ledger.id", "UNIQUE constraint failed: ledger.id"],
  ["the webhook's endpoint answered 503, expected 2xx", "the webhook's endpoint answered 503, expected <id>"],
  ["GET https://api.example.com/orders/7?x=1 failed\n    at handle", "GET <url> failed"],
  ["6fa459ea-ee8a-3ca4-894e-db77e160355e is gone", "<id> is gone"],
])("a message is compared without its numbers, ids, addresses and quoted values: %s", (message, normalized) => {
  expect(normalizedMessage(message)).toBe(normalized);
});

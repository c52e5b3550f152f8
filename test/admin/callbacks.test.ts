import { describe, expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const LIST = "/api/v1/callbacks";
const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });

async function sendOfEveryKind(receiver: TestReceiver): Promise<void> {
  await receiver.send(payment({ event_id: "paid" }, { order_id: "Order-100%" }));
  await receiver.send(payment({ event_id: "paid" }, { order_id: "Order-100%" }));
  await receiver.send(event("nobody_knows", {}, { event_id: "unknown" }));
  await receiver.send(payment({ event_id: "forged" }), { secret: "z".repeat(32) });
}

describeFullOnPostgres("GET /api/v1/callbacks on %s", (dialect) => {
  it("a list returns what each filter means, and an end marker after the last row", () =>
    withReceiver(dialect, async (receiver) => {
      const begun = new Date();
      await sendOfEveryKind(receiver);
      const found = async (query: string) => {
        const answer = await receiver.admin(`${LIST}?${query}`);
        expect([query, answer.status]).toEqual([query, 200]);
        conforms(LIST, "get", answer);
        expect([answer.body.next_cursor, answer.body.searched_until]).toEqual([null, null]);
        return (answer.body.items as { outcome: string }[]).map(({ outcome }) => outcome);
      };
      const all = ["signature_mismatch", "event_type_unknown", "already_processed", "success"];
      expect(await found("")).toEqual(all);
      expect(await found("source=platform")).toEqual(all);
      expect(await found("source=oauth")).toEqual([]);
      expect(await found("event_type=payment_notify")).toEqual(["signature_mismatch", "already_processed", "success"]);
      expect(await found("status=401")).toEqual(["signature_mismatch"]);
      expect(await found("status=4xx")).toEqual(["signature_mismatch", "event_type_unknown"]);
      expect(await found("outcome=success")).toEqual(["success"]);
      expect(await found("outcome=success,event_type_unknown")).toEqual(["event_type_unknown", "success"]);
      expect(await found("remote_address=127.0.0.1")).toEqual(all);
      expect(await found("remote_address=127.0.0.2")).toEqual([]);
      expect(await found("event_id=paid")).toEqual(["already_processed", "success"]);
      expect(await found(`text=${encodeURIComponent("order-100%")}`)).toEqual(["already_processed", "success"]);
      expect(await found("text=order_100")).toEqual([]);
      const time = encodeURIComponent(begun.toISOString().replace("Z", "+00:00"));
      expect(await found(`from=${time}`)).toEqual(all);
      expect(await found(`to=${time}`)).toEqual([]);
      expect(await found("from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59-23:00")).toEqual(all);
      expect(await found(`from=${time}&status=4xx&event_id=unknown&text=event_id`)).toEqual(["event_type_unknown"]);
    }));

  it("a callback is returned by its id, and an unknown id returns 404", () =>
    withReceiver(dialect, async (receiver) => {
      await sendOfEveryKind(receiver);
      const { items } = await clientOf(receiver).callbacks.list({ status: 401 });
      const id = Number(items[0]?.id);
      expect(await clientOf(receiver).callbacks.get(id)).toEqual({
        ...items[0],
        headers: expect.objectContaining({ "x-signature": "[masked]" }),
        body: expect.stringContaining('"forged"'),
        response_body: '{"error":"invalid signature"}',
      });
      conforms(`${LIST}/{id}`, "get", await receiver.admin(`${LIST}/${id}`));
      const none = await receiver.admin(`${LIST}/${id + 1_000}`);
      conforms(`${LIST}/{id}`, "get", none);
      expect(none.status).toBe(404);
    }));
});

describe("GET /api/v1/callbacks", () => {
  it.each([
    [
      "outcome=succes",
      /^outcome: there is no "succes"; expected success, already_processed, accepted, ignored, handshake or a code/,
    ],
    ["outcome=success,", /^outcome: there is no ""/],
    ["status=200,401", /^status: got "200,401", expected a value such as 401 or 4xx$/],
    ["from=yesterday", /^from: got "yesterday", expected a time with its zone, such as 2026/],
    ["from=2026-03-04T12:00:00", /^from: got .+, expected a time with its zone/],
    ["from=2026-02-30T12:00:00Z", /^from: got .+, expected a time with its zone/],
    ["to=2026-03-04T23:59:60Z", /^to: got "2026-03-04T23:59:60Z", expected a time with its zone, such as/],
    ["text=", /^text: got "", expected a text of 1 to 200 characters$/],
    ["text=a%00b", /^text: got .+, expected a text without NUL characters$/],
    ["type=payment_notify", /^there is no query parameter "type"; there are limit, cursor, from, to, source/],
  ])("a list with ?%s is rejected with the reason", (query, says) =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin(`${LIST}?${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(says)]);
      conforms(LIST, "get", answer);
    }),
  );
});

import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { twilio } from "../../src/sources/platforms/index.ts";
import { type DIALECTS, describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const SECRET = "12345678901234567890123456789012";
const URL_OF_PROXY = "https://example.com/hooks/twilio";

function withTwilio(dialect: (typeof DIALECTS)[number], use: (receiver: TestReceiver, ran: string[]) => Promise<void>) {
  const ran: string[] = [];
  const handler = defineHandler({
    source: "twilio",
    type: "*",
    data: z.object({ CallSid: z.string() }),
    handle: ({ event }) => {
      ran.push(`${event.event_type} ${event.data.CallSid}`);
      return {};
    },
  });
  const sources = { twilio: twilio({ secret: SECRET, url: URL_OF_PROXY }) };
  return withReceiver(dialect, (receiver) => use(receiver, ran), { sources, handlers: [handler] });
}

async function call({ publicOrigin }: TestReceiver, query: string, signed: string, body?: string) {
  const signature = createHmac("sha1", SECRET).update(`${URL_OF_PROXY}${signed}`).digest("base64");
  const headers = {
    "X-Twilio-Signature": signature,
    "Content-Type": "application/x-www-form-urlencoded",
  };
  const method = body === undefined ? { method: "GET" } : { method: "POST", body };
  const response = await fetch(`${publicOrigin}/api/twilio/callback${query}`, { ...method, headers });
  return response.status;
}

describeFullOnPostgres("Twilio's addresses on %s", (dialect) => {
  it("one callback of Twilio runs once in every spelling of its address, and through a proxy that maps the path", () =>
    withTwilio(dialect, async (receiver, ran) => {
      const signed = "?order=1CallSidCA1CallStatuscompleted";
      for (const query of ["?order=1", "?order=%31", "?&order=1", "?%6frder=1", "?order=1&"])
        expect(await call(receiver, query, signed, "CallSid=CA1&CallStatus=completed")).toBe(200);
      expect(ran).toEqual(["call.completed CA1"]);
    }));

  it("a callback of Twilio by GET runs, and another query is refused", () =>
    withTwilio(dialect, async (receiver, ran) => {
      const query = "?CallSid=CA2&CallStatus=ringing";
      expect(await call(receiver, query, query)).toBe(200);
      expect(await call(receiver, `${query}&Digits=1`, query)).toBe(401);
      expect(ran).toEqual(["call.ringing CA2"]);
    }));
});

import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, respond } from "../../src/index.ts";
import { slack } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";

const SECRET = "a secret of this test";
const SHOWN = { response_type: "in_channel", text: "Deployed" };

const handlers = [
  defineHandler({
    source: "slack",
    type: "/deploy",
    data: z.object({ text: z.string() }),
    handle: ({ event: { data } }) => {
      if (data.text === "long") return respond({ body: "x".repeat(65_537) });
      if (data.text === "unframed") return respond({ headers: { "Content-Length": "1" } });
      if (data.text === "plain") return { deployed: true };
      return respond({ status: 201, headers: { "X-Deployed": "1" }, body: SHOWN });
    },
  }),
  defineHandler({
    type: "payment_notify",
    data: z.object({}),
    handle: () => respond({ body: "not of SPEC 2.5" }),
  }),
];

async function command(receiver: TestReceiver, text: string, id = text) {
  const body = new URLSearchParams({ command: "/deploy", text, trigger_id: id }).toString();
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", SECRET).update(`v0:${time}:${body}`).digest("hex");
  const headers = { "X-Slack-Request-Timestamp": time, "X-Slack-Signature": `v0=${signature}` };
  const response = await fetch(`${receiver.publicOrigin}/api/slack/callback`, {
    method: "POST",
    body,
    headers,
  });
  const type = response.headers.get("content-type");
  return [response.status, response.headers.get("x-deployed"), type, await response.text()];
}

const JSON_TYPE = "application/json; charset=utf-8";

describeFullOnPostgres("the response that a handler returns on %s", (dialect) => {
  const options = { sources: { slack: slack({ secret: SECRET }) }, handlers };

  it("a handler's response reaches its callback, and each duplicate after it", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const shown = [201, "1", JSON_TYPE, JSON.stringify(SHOWN)];
        expect(await command(receiver, "api")).toEqual(shown);
        expect(await command(receiver, "api")).toEqual(shown);
        expect(await command(receiver, "plain")).toEqual([200, null, JSON_TYPE, ""]);
        expect(await receiver.count("oncehook_records")).toBe(2);
      },
      options,
    ));
});

describe("a response that cannot be sent", () => {
  it("a handler's response that is too long or frames the message fails its event", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        for (const text of ["long", "unframed"]) expect((await command(receiver, text))[0]).toBe(500);
        expect(await receiver.count("oncehook_records")).toBe(0);
      },
      { sources: { slack: slack({ secret: SECRET }) }, handlers },
    ));

  it.each([
    [{ status: 500 }, "`status`: got 500, expected 200 to 299"],
    [{ headers: { "a b": "1" } }, '`headers`: got "a b"'],
    [{ headers: { a: "1\r\nb: 2" } }, '`headers`: got "a"'],
    [{ headers: null }, "`headers`: expected an object"],
    [{ body: 1 }, "`body`: got a number"],
  ])("respond refuses %j", (response, message) => {
    expect(() => respond(response as never)).toThrow(message);
  });
});

describe("a source that has no response of its handlers", () => {
  it("the specification's platform gets the response of SPEC 2.5, whatever its handler returns", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await receiver.send(payment())).toMatchObject({ status: 200, body: { status: "success" } });
      },
      { sources: { slack: slack({ secret: SECRET }) }, handlers },
    ));

  it("a callback that is answered before its handler has run gets the usual response", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        expect(await command(receiver, "api")).toEqual([200, null, JSON_TYPE, ""]);
      },
      { sources: { slack: slack({ secret: SECRET, answer: "after" }) }, handlers },
    ));
});

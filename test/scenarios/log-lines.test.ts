import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { github } from "../../src/sources/platforms/index.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const SOURCE = github({ secret: "a secret that GitHub was given" });
const HANDLER = defineHandler({
  source: "github",
  type: "*",
  data: z.looseObject({ n: z.number() }),
  handle({ event: { data } }) {
    if (data.n === 2) throw new Rejected("two is none");
    if (data.n === 3) throw new Error("no three");
    return {};
  },
});
const LONG = "x".repeat(40_000);
const FORM = "application/x-www-form-urlencoded";

let deliveries = 0;

async function deliver(receiver: TestReceiver, body: string, contentType = "application/json", isForged = false) {
  deliveries += 1;
  const headers = {
    ...SOURCE.sign?.({ body: Buffer.from(isForged ? `${body} ` : body), now: new Date() }),
    "content-type": contentType,
    "x-github-event": "push",
    "x-github-delivery": `d-${deliveries}`,
  };
  const lines = () => receiver.lines.filter(({ msg }) => msg === "callback");
  const before = lines().length;
  const response = await fetch(`${receiver.publicOrigin}/api/github/callback`, {
    method: "POST",
    body,
    headers,
  });
  await response.arrayBuffer();
  await until(async () => lines().length > before);
  return lines().at(-1) as { outcome: string; body?: object; body_text?: string };
}

describe("the line of a source's callback", () => {
  it.each([
    ["an accepted one", '{"n":1}', "success"],
    ["one of several lines, behind blanks", ' {\n"n": 1\n}', "success"],
    ["one behind a byte order mark", '\ufeff{"n":1}', "success"],
    ["one of 40,000 characters", `{"n":1,"text":"${LONG}"}`, "success"],
    ["one that its handler rejects", '{"n":2}', "rejected"],
    ["one whose handler fails", '{"n":3}', "failed"],
    ["one that its contract cannot read", '{"n":1,"__proto__":{}}', "rejected"],
  ])("a body that is a JSON object is an object in its line: %s", (_, body) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const expected = JSON.parse(body.trim());
        for (const isForged of [false, true]) {
          const line = await deliver(receiver, body, undefined, isForged);
          // Of these a note tells the length and the beginning.
          if (isForged && (body.length > 16_384 || body.startsWith("\ufeff"))) continue;
          expect(JSON.stringify(line.body)).toBe(JSON.stringify(expected));
          expect(line).not.toHaveProperty("body_text");
        }
      },
      { sources: { github: SOURCE }, handlers: [HANDLER] },
    ),
  );

  it("a form is a text in its line, whatever its outcome", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const form = new URLSearchParams({ payload: '{"n":1}' }).toString();
        for (const isForged of [false, true]) {
          const line = await deliver(receiver, form, FORM, isForged);
          expect([line.body_text, line.body]).toEqual([form, undefined]);
        }
      },
      { sources: { github: SOURCE }, handlers: [HANDLER] },
    ));
});

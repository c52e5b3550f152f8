import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { contentful } from "../../../src/sources/platforms/index.ts";
import { readSource, verifySource } from "../../support/source.ts";

const SECRET = "qlfkupAwYA4ZkNnmBzmNypFqSRWOwhpGRFwQFn5iPNAGHSYdvwed1C77n0Eiaz19";
const TARGET = "/api/source/callback";
const NAMES = "x-contentful-signed-headers";
const TOPIC = "ContentManagement.Entry.publish";
const BODY = '{"sys":{"id":"1"}}';
const source = contentful({ secret: SECRET });

/** As node-apps-toolkit has it. */
function signed(list = `${NAMES},x-contentful-timestamp,x-contentful-topic`, extra: object = {}) {
  const headers: Record<string, string> = {
    [NAMES]: list,
    "x-contentful-timestamp": "1781524800000",
    "x-contentful-topic": TOPIC,
    ...extra,
  };
  const lines = list.split(",").map((name) => `${name}:${headers[name]}`);
  const text = ["POST", TARGET, lines.join(";"), BODY].join("\n");
  const signature = createHmac("sha256", SECRET).update(text).digest("hex");
  return { headers: { ...headers, "x-contentful-signature": signature }, body: BODY };
}

describe("the preset contentful", () => {
  it("the preset contentful accepts a signature over the headers that are named", async () => {
    expect(await verifySource(source, signed())).toHaveProperty("verified");
    const callback = signed();
    const headers = { ...callback.headers, "x-contentful-topic": "ContentManagement.Entry.delete" };
    expect(await verifySource(source, { ...callback, headers })).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it.each([
    ["a list without the time", `${NAMES},x-contentful-topic`],
    ["a list without itself", "x-contentful-timestamp,x-contentful-topic"],
    ["a header that is missing", `${NAMES},x-absent,x-contentful-timestamp`],
    ["no list", ""],
    ["a name with a space", `${NAMES},x-contentful-timestamp,x y`],
    ["a name of every object", `__proto__,${NAMES},x-contentful-timestamp`],
    [
      "more than 64 names",
      [NAMES, "x-contentful-timestamp", ...Array.from({ length: 63 }, (_, at) => `x-z${at}`)].join(","),
    ],
  ])("%s is refused", async (_title, list) => {
    expect(await verifySource(source, signed(list))).toMatchObject({
      code: "signature_malformed",
      detail: expect.stringContaining("`headers`: missing or malformed"),
    });
  });

  it("a signed header that stands twice is refused", async () => {
    const callback = signed();
    const headers = { ...callback.headers, "x-contentful-topic": [TOPIC, TOPIC] };
    expect(await verifySource(source, { ...callback, headers })).toMatchObject({
      code: "signature_malformed",
    });
  });

  it("the preset contentful reads the topic as the type, and without an idempotency key the body's hash as the id", () => {
    const headers = { "X-Contentful-Topic": TOPIC };
    expect(readSource(source, { headers, body: BODY })).toMatchObject([
      { event_id: expect.stringMatching(/^[0-9a-f]{64}$/), event_type: TOPIC },
    ]);
  });

  it("a secret of another length is refused", () => {
    expect(() => contentful({ secret: SECRET.slice(1) })).toThrow(TypeError);
  });
});

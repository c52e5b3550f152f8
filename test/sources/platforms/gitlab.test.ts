import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { gitlab } from "../../../src/sources/platforms/index.ts";
import { NOW, openSource, readSource, verifySource } from "../../support/source.ts";

const TOKEN = "a secret token of the hook";
const KEY = Buffer.from("a key of thirty-two bytes, right");
const SIGNING = `whsec_${KEY.toString("base64")}`;
const ID = "f5e5f430-f57b-4e6e-9fac-d9128cd7232f";
const BODY = { object_kind: "push", event_name: "push", ref: "refs/heads/main" };

describe("the preset gitlab with a secret token", () => {
  const source = gitlab({ secret: [TOKEN, "the one before"] });
  const headers = { "X-Gitlab-Token": TOKEN, "X-Gitlab-Event": "Push Hook", "Idempotency-Key": ID };

  it.each([
    [TOKEN, { verified: [{ method: "token", index: 0 }] }],
    ["the one before", { verified: [{ method: "token", index: 1 }] }],
    ["another", { code: "token_mismatch" }],
    ["", { code: "token_missing" }],
  ])("the token %j is judged", async (token, verdict) => {
    const callback = { headers: { ...headers, "X-Gitlab-Token": token }, body: BODY };
    expect(await verifySource(source, callback)).toMatchObject(verdict);
  });

  it("the preset gitlab with a secret token reads the idempotency key, or without one the body's hash, as the id", () => {
    expect(readSource(source, { headers, body: BODY })).toMatchObject([
      { event_id: ID, event_type: "push", headers: { "x-gitlab-event": "Push Hook" } },
    ]);
    const old = { "X-Gitlab-Token": TOKEN };
    expect(readSource(source, { headers: old, body: BODY })).toMatchObject([
      { event_id: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  it("a system hook has its type in event_name", () => {
    const body = { event_name: "project_create", name: "StoreCloud" };
    expect(readSource(source, { headers, body })).toMatchObject([{ event_type: "project_create" }]);
  });

  it("the id of GitLab with a token is not signed", () => {
    expect(openSource(source).contract.identity).toBe("id");
  });
});

describe("the preset gitlab with a signing token", () => {
  const source = gitlab({ secret: SIGNING, verify: "signature" });
  const text = JSON.stringify(BODY);
  const time = String(NOW.getTime() / 1000);
  const digest = createHmac("sha256", KEY).update(`${ID}.${time}.${text}`).digest("base64");
  const headers = {
    "webhook-id": ID,
    "webhook-timestamp": time,
    "webhook-signature": `v1,${digest}`,
    "X-Gitlab-Token": TOKEN,
  };

  it("the preset gitlab with a signing token accepts a signature made after the documentation, and no token alone", async () => {
    expect(await verifySource(source, { headers, body: text })).toHaveProperty("verified");
    expect(await verifySource(source, { headers, body: `${text} ` })).toMatchObject({
      code: "signature_mismatch",
    });
    expect(await verifySource(source, { headers: { "X-Gitlab-Token": SIGNING }, body: text })).toMatchObject({
      code: "signature_missing",
    });
  });

  it("the preset gitlab with a signing token reads the signed id", () => {
    expect(readSource(source, { headers, body: text })).toMatchObject([{ event_id: ID, event_type: "push" }]);
    expect(openSource(source).contract.identity).toBe("signed-id");
  });
});

describe("options of the preset gitlab", () => {
  it.each([
    [{ secret: undefined }, "gitlab: `secret`"],
    [{ secret: " a token" }, "gitlab: `secret`: got a text with white space"],
    [{ secret: "no base64 of a key!", verify: "signature" }, "whsec_"],
    [{ secret: TOKEN, verify: "signing" }, 'gitlab: `verify`: got "signing", expected token, signature'],
  ])("%j is refused", (options, message) => {
    expect(() => gitlab(options as never)).toThrow(message);
  });
});

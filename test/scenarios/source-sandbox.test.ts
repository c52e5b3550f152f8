import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { adyen, braintree, github, gitlab, stripe } from "../../src/sources/platforms/index.ts";
import { conforms } from "../support/openapi.ts";
import { type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";

const clientOf = ({ adminOrigin }: TestReceiver) => createAdminClient({ origin: adminOrigin, token: TOKEN });

describe("the sandbox of sources", () => {
  const secret = "whsec_of_the_sandbox_test";
  const handlers = ["invoice.paid", "charge.*"].map((type) =>
    defineHandler({ source: "billing", type, data: z.looseObject({}), handle: () => ({}) }),
  );
  const sources = {
    billing: stripe({ secret }),
    code: github({ secret }),
    inbox: gitlab({ secret }),
    bank: adyen({ secret: "a".repeat(64) }),
    cards: braintree({ keys: { publicKey: "p", privateKey: secret } }),
  };
  const withSources = (run: (receiver: TestReceiver) => Promise<void>) =>
    withReceiver("sqlite", run, { sources, handlers, env: { RATE_LIMIT_CALLBACK: "off" } });

  it("the sandbox lists each source with the types that its handlers name", () =>
    withSources(async (receiver) => {
      const answer = await receiver.admin("/api/v1/sandbox");
      conforms("/api/v1/sandbox", "get", answer);
      expect(answer.body.sources).toMatchObject([
        { source: "billing", title: "Stripe", types: ["invoice.paid"] },
        { source: "code", title: "GitHub", types: [] },
        { source: "inbox", types: [] },
        { source: "bank", types: [] },
        { source: "cards", types: [] },
      ]);
    }));

  it("a sample of a source is handled once when it is sent, and its signature is masked", () =>
    withSources(async (receiver) => {
      const { sandbox } = clientOf(receiver);
      const { body } = await sandbox.sample("billing", "invoice.paid");
      expect(JSON.parse(body)).toMatchObject({ type: "invoice.paid", object: "event" });
      const { request, response } = await sandbox.sendAs("billing", { type: "invoice.paid", body });
      expect(response.status).toBe(200);
      expect(request).toMatchObject({
        url: `${receiver.publicOrigin}/api/billing/callback`,
        headers: { "Stripe-Signature": "[masked]" },
      });
      await sandbox.sendAs("billing", { type: "invoice.paid", body });
      expect(await receiver.count("oncehook_records", "source = 'billing'")).toBe(1);
    }));

  it("a callback is sent with the headers of its platform", () =>
    withSources(async (receiver) => {
      const { sandbox } = clientOf(receiver);
      const { body } = await sandbox.sample("code", "issues");
      const { request } = await sandbox.sendAs("code", { type: "issues", body });
      expect(request.headers).toMatchObject({ "X-GitHub-Event": "issues" });
    }));

  it.each([
    ["billing", "invoice.paid", "wrong"],
    ["billing", "invoice.paid", "none"],
    ["inbox", "Push Hook", "wrong"],
    ["inbox", "Push Hook", "none"],
    ["bank", "AUTHORISATION", "wrong"],
    ["bank", "AUTHORISATION", "none"],
  ] as const)("a callback of %s of the type %s that is signed %s is refused", (source, type, sign) =>
    withSources(async (receiver) => {
      const { sandbox } = clientOf(receiver);
      const { body } = await sandbox.sample(source, type);
      const right = await sandbox.sendAs(source, { type, body });
      const refused = await sandbox.sendAs(source, { type, body, sign });
      expect([right.response.status, refused.response.status]).toEqual([200, 401]);
    }),
  );

  it("a source whose callbacks cannot be signed here returns 409 with the reason", () =>
    withSources(async (receiver) => {
      const answer = await receiver.admin("/api/v1/sandbox/sources/cards/samples/check");
      conforms("/api/v1/sandbox/sources/{source}/samples/{type}", "get", answer);
      expect(answer).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining("no callback of Braintree") },
      });
    }));

  it("an unknown source returns 404", () =>
    withSources(async (receiver) => {
      const { sandbox } = clientOf(receiver);
      await expect(sandbox.sample("nowhere", "a")).rejects.toMatchObject({ status: 404 });
      await expect(sandbox.sendAs("nowhere", { type: "a", body: "" })).rejects.toMatchObject({
        status: 404,
      });
    }));
});

import { expect, it } from "vitest";
import { authenticityOf } from "../../dashboard/src/panel/authenticity.ts";
import { AUTHENTICITY, type CallbackView } from "../../src/admin-client/index.ts";
import { OUTCOMES } from "../../src/domain/index.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";

/** What the page says of the newest callback. */
async function newestVerdict({ admin }: TestReceiver): Promise<string> {
  const { body } = await admin("/api/v1/callbacks?limit=1");
  const [callback] = (body as { items: CallbackView[] }).items;
  return authenticityOf(callback!);
}

it("the page knows for every outcome whether the callback is authentic", () => {
  expect(Object.keys(AUTHENTICITY).sort()).toEqual([...OUTCOMES].sort());
});

it("the page calls a signed callback authentic, whether it is handled or refused afterwards", () =>
  withReceiver("sqlite", async (receiver) => {
    await receiver.send(payment());
    expect(await newestVerdict(receiver)).toMatch(/^Authentic:/);
    await receiver.send({}, { raw: "[]" });
    expect(await newestVerdict(receiver)).toMatch(/^Authentic:/);
  }));

it("the page says of an unauthenticated redirect that nothing is known, not that it is authentic", () =>
  withReceiver("sqlite", async (receiver) => {
    const redirect = `${receiver.publicOrigin}/api/platform/oauth-callback?code=a&code=b`;
    const answer = await fetch(redirect);
    expect(answer.status).toBe(400);
    expect(await newestVerdict(receiver)).toMatch(/^Not known:/);
  }));

it("a wrong signature is shown as not authentic", () =>
  withReceiver("sqlite", async (receiver) => {
    await receiver.send(payment(), { secret: "another secret of the same length" });
    expect(await newestVerdict(receiver)).toMatch(/^Not authentic:/);
  }));

it("the page shows Authentic only after a verification: not for redirects, and not for an outage", () => {
  expect(authenticityOf({ outcome: "success", source: "oauth" })).toMatch(/^Not known:/);
  for (const outcome of ["store_unavailable", "internal", "overloaded", "a_code_of_a_later_version"])
    expect([outcome, authenticityOf({ outcome, source: "platform" })]).toEqual([
      outcome,
      expect.stringMatching(/^Not known:/),
    ]);
});

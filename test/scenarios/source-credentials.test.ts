import { expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { conforms } from "../support/openapi.ts";
import { payment, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const [CURRENT, PREVIOUS] = ["whsec_of_today_and_tomorrow", "whsec_of_the_last_years"];
const NO_ADVICE = { advice: null, can_retire: false, unused_since: null };
let invoices = 0;

async function send(receiver: TestReceiver, secret: string, source = "stripe"): Promise<number> {
  invoices += 1;
  const event = { id: `evt_${invoices}`, type: "invoice.paid", created: 1_766_000_000, data: {} };
  const body = Buffer.from(JSON.stringify(event));
  const headers = stripe({ secret }).sign?.({ body, now: new Date() }) ?? {};
  const url = `${receiver.publicOrigin}/api/${source}/callback`;
  const response = await fetch(url, { method: "POST", body, headers });
  await response.arrayBuffer();
  return response.status;
}

async function sourcesOf(receiver: TestReceiver) {
  const answer = await receiver.admin("/api/v1/sources");
  conforms("/api/v1/sources", "get", answer);
  return createAdminClient({ origin: receiver.adminOrigin, token: TOKEN }).sources.list();
}

async function secretsOf(receiver: TestReceiver, name: string) {
  const { items } = await sourcesOf(receiver);
  return items.find(({ source }) => source === name)?.authentication[0]?.secrets ?? [];
}

describeFullOnPostgres("the secrets of sources on %s", (dialect) => {
  it("the sources list has when each secret of a source was last used, by its variable", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await secretsOf(receiver, "stripe")).toEqual([
          { name: "STRIPE_SECRET", is_previous: false, last_used_at: null, ...NO_ADVICE },
          {
            name: "STRIPE_SECRET_PREVIOUS",
            is_previous: true,
            last_used_at: null,
            ...{ can_retire: false, unused_since: null },
            advice: expect.stringMatching(/^keep it; the platform has not used the new one since /),
          },
        ]);
        expect(await send(receiver, PREVIOUS)).toBe(200);
        await until(async () => (await secretsOf(receiver, "stripe"))[1]?.last_used_at !== null);
        expect((await secretsOf(receiver, "stripe"))[0]?.last_used_at).toBeNull();
        const { body } = await receiver.admin("/api/v1/sources");
        expect(JSON.stringify(body)).not.toContain(PREVIOUS);
      },
      { env: { SOURCES: "stripe", STRIPE_SECRET: CURRENT, STRIPE_SECRET_PREVIOUS: PREVIOUS } },
    ));

  it("a use of one source's secret is no use of another source's", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await send(receiver, CURRENT, "billing")).toBe(200);
        await until(async () => (await secretsOf(receiver, "billing"))[0]?.last_used_at !== null);
        expect((await secretsOf(receiver, "shop")).map(({ name, last_used_at }) => [name, last_used_at])).toEqual([
          ["secret 1 of 2 of source shop", null],
          ["secret 2 of 2 of source shop", null],
        ]);
        expect((await secretsOf(receiver, "billing"))[0]?.name).toBe("secret of source billing");
        expect((await secretsOf(receiver, "platform"))[0]?.last_used_at).toBeNull();
      },
      { sources: { billing: stripe({ secret: CURRENT }), shop: stripe({ secret: [CURRENT, PREVIOUS] }) } },
    ));

  it("accepted credentials are counted by source", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await send(receiver, CURRENT);
        await send(receiver, PREVIOUS);
        await receiver.send(payment());
        const text = await (await fetch(`${receiver.adminOrigin}/metrics`)).text();
        for (const labels of [
          'source="stripe",method="hmac",secret="current"',
          'source="stripe",method="hmac",secret="previous"',
          'source="platform",method="hmac",secret="current"',
        ])
          expect(text).toContain(`oncehook_credentials_used_total{${labels}} 1`);
        // Without a handler of its own, a source has one for every type.
        expect(text).toContain('callback_requests_total{event_type="*",status="200"} 2');
      },
      { sources: { stripe: stripe({ secret: [CURRENT, PREVIOUS] }) } },
    ));

  it("the sources list has the addresses of each source, and a check reaches them", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const { items } = await sourcesOf(receiver);
        const [, billing] = items;
        expect(billing).toMatchObject({
          source: "billing",
          authenticated_by: "the header Stripe-Signature",
          addresses: [{ url: `${receiver.publicOrigin}/hooks/stripe`, version: "by_header" }],
          authentication: [{ method: "secret", header: "Stripe-Signature" }],
        });
        const checked = await receiver.admin("/api/v1/sources/billing/check", { method: "POST" });
        expect(checked.body).toMatchObject({ reached: true, status: 401 });
      },
      { sources: { billing: stripe({ secret: CURRENT, path: "/hooks/stripe" }) } },
    ));
});

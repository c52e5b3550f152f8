import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { event, payment } from "../support/receiver.ts";
import { SECRET } from "../support/secrets.ts";
import { unreliable } from "../support/unreliable.ts";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

it("an event that the schema refuses is shown with its field, and runs from the page once the schema is mended", {
  timeout: LIMIT_MS,
}, () => {
  let amount: z.ZodType = z.string();
  const handler = defineHandler({
    source: "billing",
    type: "invoice.paid",
    data: z.looseObject({
      amount: z.unknown().refine((value) => amount.safeParse(value).success, "no amount"),
    }),
    handle: () => ({}),
  });
  const secret = "whsec_of_the_test";
  const created = Math.floor(Date.now() / 1_000);
  const sent = JSON.stringify({ id: "evt_paid", type: "invoice.paid", created, amount: 4_200 });
  const signature = `t=${created},v1=${signHmac(secret, Buffer.from(`${created}.${sent}`))}`;
  return withDashboard(
    async ({ page, receiver, problems }) => {
      const url = `${receiver.publicOrigin}/api/billing/callback`;
      const headers = { "stripe-signature": signature };
      expect((await fetch(url, { method: "POST", body: sent, headers })).status).toBe(200);
      await page.goto("/");
      await signIn(page);
      await page.locator(".card", { hasText: "data.amount: no amount" }).getByRole("link").click();
      await page.getByRole("link", { name: "evt_paid" }).click();
      amount = z.number();
      await page.getByRole("button", { name: "Replay: evt_paid" }).click();
      await page.getByText("evt_paid was run now: handled.").waitFor();
      expect(await receiver.count("oncehook_failures")).toBe(0);
      expect(await receiver.count("oncehook_records", "status = 'completed'")).toBe(1);
      expect(problems).toEqual([]);
    },
    { env: OPEN, sources: { billing: stripe({ secret }) }, handlers: [handler] },
  );
});

it("the sandbox sends what the receiver then handles", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      await page.goto("/sandbox");
      await signIn(page);
      await page.getByLabel("Event type and version").selectOption("payment_notify v1");
      const body = page.getByLabel("Body, as it is signed and sent");
      const sample = await body.inputValue();
      // Half an event: what the page says of it must not move the button away from under the pointer.
      await body.fill(sample.slice(0, -3));
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Response 400").waitFor();
      await body.fill(sample);
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Response 200").waitFor();
      expect(await receiver.count("oncehook_records")).toBe(1);
      await page.getByRole("button", { name: "Run OAuth flow" }).click();
      await page.getByRole("list", { name: "It signed in" }).waitFor();
      expect(problems).toEqual([]);
    },
    { env: OPEN },
  ),
);

it("the sandbox fills a sample of the chosen source and type, which is then handled", {
  timeout: LIMIT_MS,
}, () => {
  const handlers = ["invoice.paid", "charge.*"].map((type) =>
    defineHandler({ source: "billing", type, data: z.looseObject({}), handle: () => ({}) }),
  );
  const sources = { billing: stripe({ secret: SECRET }) };
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await page.goto("/sandbox");
      await signIn(page);
      const source = page.getByLabel("Source");
      await expect.poll(() => source.inputValue()).toBe("billing");
      await expect.poll(() => source.textContent()).toBe("billingthe built-in protocol (platform)");
      const body = page.getByLabel("Body, as it is signed and sent");
      await expect.poll(() => body.inputValue()).toContain("invoice.paid");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Response 200").waitFor();
      await page.getByLabel("Event type").fill("charge.refunded");
      await page.getByRole("button", { name: "New sample" }).click();
      await expect.poll(() => body.inputValue()).toContain("charge.refunded");
      expect(JSON.parse(await body.inputValue())).toMatchObject({ type: "charge.refunded" });
      await page.getByRole("button", { name: "Send" }).click();
      await expect.poll(() => receiver.count("oncehook_records", "source = 'billing'")).toBe(2);
      expect(problems).toEqual([]);
    },
    { env: OPEN, sources, handlers },
  );
});

it("the page states whether the registered address leads here", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver, problems }) => {
    await page.goto("/sources/platform");
    await signIn(page);
    await page.getByRole("button", { name: "Check endpoint" }).click();
    await page.getByText(`Reached: ${receiver.publicOrigin}/api/v1/platform/callback`).waitFor();
    await page
      .getByText(/an address of this machine/)
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  }),
);

it("the overview counts new callbacks, and states what needs attention", { timeout: LIMIT_MS }, () => {
  const { handler } = unreliable();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      for (let at = 0; at < 3; at += 1) await receiver.send(payment());
      await receiver.send(event("unreliable", {}));
      await page.goto("/");
      await signIn(page);
      await page.locator(".card", { hasText: "1 failed" }).waitFor();
      await page.getByText("Show as table").click();
      const table = page.getByRole("table", { name: "Callbacks over time" });
      await table.getByRole("cell", { name: "3", exact: true }).first().waitFor();
      await page.getByRole("link", { name: "1 problem is open" }).click();
      await page.getByRole("heading", { name: "Problems" }).waitFor();
      expect(problems).toEqual([]);
    },
    { handlers: [handler], env: OPEN },
  );
});

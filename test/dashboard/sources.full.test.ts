import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { IDENTITY_TEXTS } from "../../src/sources/index.ts";
import { asana, github, hmac, stripe } from "../../src/sources/platforms/index.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const BILLING = stripe({ secret: "whsec_of-the-tests" });
const REDIRECT = "/api/platform/oauth-callback";

it("the page states whether the registered OAuth redirect leads here", { timeout: LIMIT_MS }, async () => {
  const port = String(await freePort());
  await withDashboard(
    async ({ page, receiver }) => {
      await page.goto("/sources");
      await signIn(page);
      await page.getByRole("button", { name: "Check endpoint", exact: true }).click();
      await expectShown(page.getByText(`Reached: ${receiver.publicOrigin}${REDIRECT}`));
    },
    { env: { PORT: port, CALLBACK_BASE_URL: `http://127.0.0.1:${port}` } },
  );
});

it("the page lists the secrets that were sent to a source, and shows none", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      for (const secret of ["the-genuine-one", "the-forged-one"])
        await fetch(`${receiver.publicOrigin}/api/tasks/callback`, {
          method: "POST",
          headers: { "X-Hook-Secret": secret },
        });
      await page.goto("/sources");
      await signIn(page);
      const rows = page.getByRole("table", { name: "Secrets that were sent to tasks" }).locator("tbody tr");
      await expect.poll(() => rows.count(), { timeout: LIMIT_MS / 2 }).toBe(2);
      const [first, second] = await rows.allTextContents();
      expect([first, second]).toEqual([expect.stringMatching(/yes$/), expect.stringMatching(/no$/)]);
      expect(await page.content()).not.toMatch(/the-(genuine|forged)-one/);
      expect(problems).toEqual([]);
    },
    { sources: { tasks: asana({}) } },
  ),
);

it("text that the page may not copy is selected, and the page states it", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    // As a browser does for a page that came over plain HTTP: it gives no clipboard.
    await page.addInitScript("delete Navigator.prototype.clipboard");
    await page.goto("/sources");
    await signIn(page);
    await page.getByRole("button", { name: "Copy the redirect address" }).click();
    await page.getByText("It could not be copied").waitFor();
    await until(async () => String(await page.evaluate("getSelection().toString()")).endsWith(REDIRECT));
    expect(await page.getByRole("button", { name: "Copied" }).count()).toBe(0);
  }),
);

it(
  "the page shows each source with its platform, its address, its event key and its last day",
  { timeout: LIMIT_MS },
  () =>
    withDashboard(
      async ({ page, receiver, problems }) => {
        const body = Buffer.from('{"id":"evt_1","type":"invoice.paid"}');
        const headers = BILLING.sign?.({ body, now: new Date() }) ?? {};
        const url = `${receiver.publicOrigin}/api/billing/callback`;
        expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
        await page.goto("/sources");
        await signIn(page);
        const section = page.getByRole("region", { name: "Source billing" });
        await expectShown(section.getByText("Stripe (preset stripe)"));
        await expectShown(section.getByText(`Register ${url} with Stripe, exactly as it is.`));
        await expectShown(section.getByRole("link", { name: "Stripe: verification" }));
        const key = section.locator("dt", { hasText: "Event key" }).locator("..");
        expect(await key.textContent()).toBe(`Event key${IDENTITY_TEXTS["signed-id"]}`);
        const code = page.getByRole("region", { name: "Source code" });
        await expectShown(code.getByText(IDENTITY_TEXTS.id));
        await expectShown(section.getByText("within 6,667 ms"));
        await expectShown(section.getByText(/ ms of 10 s$/));
        expect(await section.locator("dt", { hasText: "Handled" }).locator("..").textContent()).toBe("Handled1");
        await section.getByRole("button", { name: "Check endpoints of billing" }).click();
        await expectShown(section.getByText(`Reached: ${url} `));
        expect(problems).toEqual([]);
      },
      { sources: { billing: BILLING, code: github({ secret: "a secret of 32 characters or more" }) } },
    ),
);

it("the page shows when the secrets of each tenant were used, on request", { timeout: LIMIT_MS }, () => {
  const signed = { signature: { header: "X-Signature", encoding: "hex" as const }, signed: "{body}" };
  const own = { ...signed, id: "body.id", type: "body.type" };
  return withDashboard(
    async ({ page, receiver, problems }) => {
      const body = Buffer.from('{"id":"1","type":"order"}');
      const headers = hmac({ ...own, secret: "the secret of a shop" }).sign?.({ body, now: new Date() }) ?? {};
      const url = `${receiver.publicOrigin}/hooks/acme`;
      expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
      await until(async () => (await receiver.count("oncehook_tenant_secret_uses")) === 1);
      await page.goto("/sources");
      await signIn(page);
      const section = page.getByRole("region", { name: "Source shops" });
      await section.getByRole("button", { name: "Show tenants of shops" }).click();
      const row = section.getByRole("table").getByRole("row", { name: /acme/ });
      await expectShown(row.getByText("acme", { exact: true }));
      await expectShown(row.getByText("not yet"));
      expect(problems).toEqual([]);
    },
    { sources: { shops: hmac({ ...own, path: "/hooks/:shop", secret: () => "the secret of a shop" }) } },
  );
});

it("the page tells several handlers of one type apart by their names", { timeout: LIMIT_MS }, () => {
  const order = { source: "billing", type: "invoice.paid", data: z.looseObject({}), handle: () => ({}) };
  return withDashboard(
    async ({ page, problems }) => {
      await page.goto("/sources");
      await signIn(page);
      const table = page.getByRole("region", { name: "Handlers" }).getByRole("table");
      await expectShown(table.getByRole("columnheader", { name: "Name" }));
      const named = table.getByRole("row", { name: /invoice\.paid/ });
      await expectShown(named.getByText("audit"));
      expect(await named.count()).toBe(2);
      expect(problems).toEqual([]);
    },
    {
      sources: { billing: BILLING },
      handlers: [defineHandler(order), defineHandler({ ...order, name: "audit" })],
    },
  );
});

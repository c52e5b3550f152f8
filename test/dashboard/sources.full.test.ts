import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { IDENTITY_TEXTS } from "../../src/sources/index.ts";
import { asana, github, hmac, stripe } from "../../src/sources/platforms/index.ts";
import { execute } from "../support/execute.ts";
import { freePort } from "../support/free-port.ts";
import type { TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const WIDE = { viewport: { width: 1_440, height: 900 } };
const BILLING = stripe({ secret: "whsec_of-the-tests" });
const CODE = github({ secret: "a secret of 32 characters or more" });
const REDIRECT = "/api/platform/oauth-callback";
const paid = defineHandler({ source: "billing", type: "invoice.paid", data: z.looseObject({}), handle: () => ({}) });

/** Sends an event as Stripe does. @returns the URL that it went to */
async function bill(
  { publicOrigin }: TestReceiver,
  id: string,
  { type = "invoice.paid", source = "billing" } = {},
): Promise<string> {
  const body = Buffer.from(JSON.stringify({ id, type }));
  const headers = BILLING.sign?.({ body, now: new Date() }) ?? {};
  const url = `${publicOrigin}/api/${source}/callback`;
  expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
  return url;
}

const rowOf = (page: Page, source: string) => page.getByRole("grid").getByRole("row", { name: new RegExp(source) });
const pathOf = (page: Page) => new URL(page.url()).pathname;

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

it("text that the page may not copy is selected, and the page states it", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    // As a browser does for a page that came over plain HTTP: it gives no clipboard.
    await page.addInitScript("delete Navigator.prototype.clipboard");
    await page.goto("/sources");
    await signIn(page);
    await page.getByRole("button", { name: "Copy redirect URL" }).click();
    await page.getByText("It could not be copied").waitFor();
    await until(async () => String(await page.evaluate("getSelection().toString()")).endsWith(REDIRECT));
    expect(await page.getByRole("button", { name: "Copied" }).count()).toBe(0);
  }),
);

it("the sources are a line each, which a click, Enter, j and k open and leave", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      await bill(receiver, "evt_1");
      await page.goto("/sources");
      await signIn(page);
      const row = rowOf(page, "billing");
      await expectShown(row.getByText("Healthy"));
      await expectShown(row.getByText("Stripe"));
      const p99 = row.getByText(/ ms of 10 s$/);
      await expectShown(p99);
      expect((await p99.boundingBox())?.height).toBeLessThanOrEqual(24);
      await expectShown(row.getByText("in use"));
      expect(await row.getByRole("link", { name: "handled of billing: 1" }).count()).toBe(1);
      expect((await row.boundingBox())?.height).toBeLessThanOrEqual(32);
      await row.getByText("Stripe").click();
      await expectShown(page.getByRole("heading", { level: 1, name: "billing" }));
      for (const [key, name] of [
        ["j", "platform"],
        ["j", "code"],
        ["k", "platform"],
      ] as const) {
        await page.keyboard.press(key);
        await expectShown(page.getByRole("heading", { level: 1, name }));
      }
      await page.keyboard.press("Escape");
      await expectShown(page.getByRole("heading", { level: 1, name: "Sources" }));
      await rowOf(page, "billing").waitFor();
      // Those that nobody calls stand last.
      for (const key of ["j", "j", "k", "Enter"]) await page.keyboard.press(key);
      await expectShown(page.getByRole("heading", { level: 1, name: "billing" }));
      expect(pathOf(page)).toBe("/sources/billing");
      expect(problems).toEqual([]);
    },
    { sources: { billing: BILLING, code: CODE }, handlers: [paid] },
    WIDE,
  ),
);

it("a source's page has its health, its address, its guide, its event key and its limits", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      const url = await bill(receiver, "evt_1");
      await page.goto("/sources/billing");
      await signIn(page);
      await expectShown(page.getByRole("link", { name: "1 handled" }));
      const register = page.getByRole("region", { name: "Endpoint URL (register exactly)" });
      await expectShown(register.getByText(url, { exact: true }).first());
      await register.getByRole("button", { name: "Check endpoint" }).click();
      await expectShown(register.getByText(`Reached: ${url} `));
      await page.reload();
      await expectShown(register.getByText(`Reached: ${url} `));
      const setup = page.getByRole("region", { name: "Setup" });
      await setup.getByText("Guide for Stripe").click();
      await expectShown(setup.getByText(`Register ${url} with Stripe, exactly as it is.`));
      await expectShown(setup.getByText("Choose the event type invoice.paid, where it lets you choose."));
      await expectShown(setup.getByText("npx oncehook send --source billing invoice.paid"));
      await expectShown(setup.getByRole("link", { name: "Stripe: verification" }));
      const events = page.getByRole("region", { name: "Events", exact: true });
      await expectShown(events.getByText(IDENTITY_TEXTS["signed-id"]));
      await expectShown(events.getByText(/^Within 6\.7 s of the 10 s that Stripe waits/));
      await expectShown(events.getByText("for 3 days"));
      await page.goto("/sources/code");
      await expectShown(page.getByText(IDENTITY_TEXTS.id));
      await expectShown(page.getByText("No callback", { exact: true }));
      expect(problems).toEqual([]);
    },
    { sources: { billing: BILLING, code: CODE }, handlers: [paid] },
    WIDE,
  ),
);

it("the latency of a source is drawn against its deadline, and leads to its callbacks", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      for (const id of ["evt_1", "evt_2", "evt_3"]) await bill(receiver, id);
      await page.goto("/sources/billing");
      await signIn(page);
      const latency = page.getByRole("region", { name: "Latency" });
      await expectShown(latency.getByText("Deadline 10 s"));
      await expectShown(latency.getByText("3 callbacks in the last 24 hours"));
      const pathOf = (name: string) => latency.locator(`path[data-quantile=${name}]`).getAttribute("d");
      // Of three callbacks the highest one is both: one line is drawn.
      expect(await pathOf("p95_ms")).toBe("");
      for (const name of ["p50_ms", "p99_ms"]) {
        const path = (await pathOf(name)) ?? "";
        // Steps: no curve, and nothing between the values of two periods.
        expect(path).toMatch(/^(?:M[\d. ]+(?:[HV][\d.]+)+)+$/);
      }
      const slowest = latency.getByRole("list", { name: "Slowest callbacks" }).getByRole("listitem");
      await expect.poll(() => slowest.count()).toBe(3);
      const period = latency.locator(".period:not([aria-label$='no callback'])").last();
      expect(await period.getAttribute("aria-label")).toMatch(/p50 .* ms, p95 .* ms, p99 .* ms, 3 callbacks$/);
      await latency.locator(".period").last().focus();
      await page.keyboard.press("ArrowLeft");
      expect(await page.evaluate("[...document.querySelectorAll('.period')].indexOf(document.activeElement)")).toBe(94);
      await period.click();
      await until(async () => (await page.locator(".activity-row").count()) === 3);
      expect(new URL(page.url()).searchParams.get("source")).toBe("billing");
      await page.goBack();
      await slowest.first().getByRole("link").click();
      await expectShown(page.getByRole("complementary", { name: "Callback" }));
      await page.getByRole("complementary", { name: "Callback" }).getByRole("link", { name: "billing" }).click();
      await latency.getByText("Month", { exact: true }).click();
      await expectShown(latency.getByText("3 callbacks in the last 30 days"));
      expect(new URL(page.url()).search).toBe("?span=month");
      // Nothing tells how long the built-in protocol waits.
      await page.goto("/sources/platform");
      await expectShown(latency.getByText(/callbacks in the last 24 hours/));
      expect(await latency.locator(".deadline-line").count()).toBe(0);
      expect(problems).toEqual([]);
    },
    { sources: { billing: BILLING }, handlers: [paid] },
    WIDE,
  ),
);

it("the secret that can go is named one click from the overview, and so is the p99", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await bill(receiver, "evt_1", { source: "stripe" });
      const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
      await execute(
        receiver.target,
        `UPDATE oncehook_credential_uses SET last_used_at = '${ago(0)}' WHERE method = 'source:stripe';
         UPDATE oncehook_credential_uses SET previous_since = '${ago(20)}', last_used_at = '${ago(8.1).slice(0, 16)}:40.000Z'
         WHERE previous_since IS NOT NULL`,
      );
      await page.goto("/");
      await signIn(page);
      await page.getByRole("link", { name: "stripe", exact: true }).click();
      const secrets = page.getByRole("region", { name: "Secrets", exact: true });
      // A use is noted once a minute: no second is shown that might be another.
      await expectShown(secrets.getByText("Verified within the last minute"));
      const between = secrets.getByText(/^Last verified between .* and \d\d:\d\d$/);
      await expectShown(between);
      // Up to 40 seconds into the next minute.
      const clocks = [...((await between.textContent()) ?? "").matchAll(/(\d\d):(\d\d)/g)];
      const [first = 0, last = 0] = clocks.map(([, hours, minutes]) => 60 * Number(hours) + Number(minutes));
      expect((last - first + 1_440) % 1_440).toBe(2);
      await expectShown(
        secrets.getByText("Delete STRIPE_SECRET_PREVIOUS: unused for 8 days, Stripe retries for 3 days."),
      );
      await expectShown(page.getByRole("list", { name: "Legend" }).getByText(/^p99 .* ms$/));
      await page.getByRole("link", { name: "Sources", exact: true }).first().click();
      await expectShown(rowOf(page, "stripe").getByText("1 can go"));
    },
    {
      env: { SOURCES: "stripe", STRIPE_SECRET: "whsec_of-the-tests", STRIPE_SECRET_PREVIOUS: "whsec_of-last-year" },
    },
    WIDE,
  ),
);

it("the page lists the secrets that were sent to a source, and shows none", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      for (const secret of ["the-genuine-one", "the-forged-one"])
        await fetch(`${receiver.publicOrigin}/api/tasks/callback`, {
          method: "POST",
          headers: { "X-Hook-Secret": secret },
        });
      await page.goto("/sources/tasks");
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
      await page.goto("/sources/shops");
      await signIn(page);
      const section = page.getByRole("region", { name: "Secrets", exact: true });
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
      await page.goto("/sources/billing");
      await signIn(page);
      const table = page.getByRole("region", { name: "Types and handlers" }).getByRole("table");
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

it("a source's page counts its ignored events by type, and each count leads to so many", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      for (const id of ["evt_1", "evt_2"]) await bill(receiver, id, { type: "charge.refunded" });
      await bill(receiver, "evt_3", { type: "charge.updated" });
      await bill(receiver, "evt_4");
      await page.goto("/sources/billing");
      await signIn(page);
      const ignored = page.getByRole("region", { name: /^Ignored/ });
      await ignored.getByRole("link", { name: "ignored charge.refunded: 2" }).click();
      await until(async () => (await page.locator(".activity-row").count()) === 2);
    },
    { sources: { billing: BILLING }, handlers: [paid] },
    WIDE,
  ),
);

it(
  "a source's page shows how far its reconciliation came, and the command for what is missing",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        const progress = { since: "2026-03-01T00:00:00.000Z", through: "2026-03-04T10:00:00.000Z" };
        await execute(
          receiver.target,
          `INSERT INTO oncehook_settings (name, value) VALUES ('reconciled billing', '${JSON.stringify(progress)}')`,
        );
        await page.goto("/sources/billing");
        await signIn(page);
        const missing = page.getByRole("region", { name: "Missing events" });
        await expectShown(missing.getByText("by the command only"));
        await expectShown(missing.getByText("npx oncehook reconcile billing --since 2d --dry-run"));
        await page.goto("/sources/code");
        await expectShown(missing.getByText(/^Missing events are not looked for\. To ask GitHub for them/));
        await expectShown(missing.getByText('reconcile: { apiKey: "…", every: "1h" }'));
      },
      {
        sources: {
          billing: stripe({ secret: "whsec_of-the-tests", reconcile: { apiKey: "sk_test_key" } }),
          code: CODE,
        },
      },
    ),
);

it("a test is sent from the sandbox with the source chosen", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await page.goto("/sources/code");
      await signIn(page);
      await page.getByRole("link", { name: "Send a test" }).click();
      expect(await page.getByLabel("Source").inputValue()).toBe("code");
      await page.getByLabel("Event type").fill("push");
      await page.getByRole("button", { name: "New sample" }).click();
      await expect.poll(() => page.getByLabel("Body, as it is signed and sent").inputValue()).not.toBe("");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Response 200").waitFor();
      await until(async () => (await receiver.count("oncehook_callbacks", "source = 'code'")) === 1);
    },
    { sources: { billing: BILLING, code: CODE }, handlers: [paid] },
  ),
);

it("an earlier address that names a source behind a hash leads to the source's page", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto("/sources");
      await signIn(page);
      await page.goto("/sources#billing");
      await page.reload();
      await expectShown(page.getByRole("heading", { level: 1, name: "billing" }));
      expect(pathOf(page)).toBe("/sources/billing");
      await page.goto("/sources/no-such-one");
      await expectShown(page.getByText("There is no source called no-such-one."));
    },
    { sources: { billing: BILLING } },
  ),
);

it("without a platform the list names the command that adds one", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/sources");
    await signIn(page);
    await expectShown(rowOf(page, "platform"));
    await expectShown(page.getByText("npx oncehook sources add stripe"));
  }),
);

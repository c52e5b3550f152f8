import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { hmac, stripe } from "../../src/sources/platforms/index.ts";
import { breaking } from "../support/breaking.ts";
import { execute } from "../support/execute.ts";
import { event, payment, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };
const WIDE = { viewport: { width: 1_440, height: 900 } };
const SHOP = { signature: { header: "X-Signature", encoding: "hex" }, signed: "{body}" } as const;
const shop = (secret: string) => hmac({ ...SHOP, secret, id: "body.id", type: "body.type" });
const SECRET = "the secret of the shop";

/** Sends callbacks to a source that signs the body. */
async function call(receiver: TestReceiver, source: string, count: number, { secret = SECRET, from = "203.0.113.7" }) {
  for (let sent = 0; sent < count; sent += 1) {
    const body = Buffer.from(JSON.stringify({ id: `${source}-${secret.length}-${sent}`, type: "order" }));
    const signature = shop(secret).sign?.({ body, now: new Date() })["X-Signature"] ?? "";
    const headers = { "x-signature": signature, "x-forwarded-for": from, "x-forwarded-proto": "https" };
    await fetch(`${receiver.publicOrigin}/api/${source}/callback`, { method: "POST", body, headers });
  }
}

const openAlert = (kind: string, source: string) =>
  `INSERT INTO oncehook_alerts (kind, source, subject, is_open, number, since, notified_count, notified_at)
    VALUES ('${kind}', '${source}', '', 1, 1, '2026-01-01T00:00:00.000Z', 1, '2026-01-01T00:00:00.000Z')`;
const chartTop = async (page: Page) => (await page.locator(".bars").boundingBox())?.y;
const rowOf = (page: Page, source: string) => page.locator(".source-table tbody tr").filter({ hasText: source });

it(
  "a source whose callbacks are all refused is named with count and since, one click from its remedy",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver, problems }) => {
        await page.goto("/");
        await signIn(page);
        await expectShown(page.getByText("Nothing needs attention."));
        // The page that is open learns of all that follows.
        await call(receiver, "github", 12, {});
        await call(receiver, "github", 20, { secret: "another secret" });
        await call(receiver, "shop", 12, {});
        // Forged callbacks from one address beside authentic ones are no problem.
        await call(receiver, "shop", 20, { secret: "another secret", from: "198.51.100.9" });
        // The alert of the same cause is no second card.
        await execute(receiver.target, openAlert("signatures", "github"));
        const card = page.locator(".card");
        await expectShown(card.getByText("20 refused"));
        // Since the first refused one, as in its panel and in the list.
        const { items } = (await receiver.admin("/api/v1/callbacks?outcome=refused&source=github")).body as {
          items: { timestamp: string }[];
        };
        expect(await card.locator("time").getAttribute("datetime")).toBe(items.at(-1)?.timestamp);
        expect(await card.count()).toBe(1);
        // The cause has the name that it has on every page.
        expect(await card.textContent()).toMatch(/github.*Signature mismatch: None authentic.*since/);
        await card.getByRole("link").click();
        const panel = page.getByRole("complementary", { name: "Problem" });
        await expectShown(panel.getByText(/Compare /).first());
        await expectShown(panel.getByText("X-Signature").first());
        await expectShown(panel.getByText("Last good at"));
        await expectShown(panel.getByText(/203\.0\.113/));
        // The rows have the type and the id that Activity shows, marked as unverified.
        await expectShown(panel.getByRole("listitem").filter({ hasText: "order" }).getByText("unverified").first());
        await expectShown(panel.getByRole("link", { name: "github-14-19" }));
        await expectShown(panel.getByRole("heading", { name: "20 callbacks", exact: true }));
        await panel.getByRole("link", { name: "View in Activity" }).click();
        await until(async () => (await page.locator(".activity-row").count()) === 20, PATIENCE_MS);
        await page.locator(".activity-row").first().click();
        const refused = page.getByRole("complementary", { name: "Callback" });
        await expectShown(refused.getByText(/^The last authentic callback of github came at /));
        await expectShown(refused.getByRole("link", { name: "20 were refused since" }));
        const secrets = refused.getByRole("link", { name: "Secrets of github" });
        expect(await secrets.getAttribute("href")).toBe("/sources/github#secrets");
        expect(await refused.getByRole("tab", { name: "SQL" }).count()).toBe(0);
        expect(problems).toEqual([]);
      },
      { env: { ...OPEN, TRUST_PROXY: "127.0.0.1" }, sources: { github: shop(SECRET), shop: shop(SECRET) } },
      WIDE,
    ),
);

it("41 failures of a cause are mended with three clicks from the overview", { timeout: LIMIT_MS }, () => {
  const { broken, handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      for (let at = 0; at < 41; at += 1) await receiver.send(event("paid", {}, { event_id: `paid_${at}` }));
      broken.delete("paid");
      await page.goto("/");
      await signIn(page);
      await expectShown(page.locator(".card").getByText(/^24 hours, at most \d+ an hour$/));
      await page.locator(".card").getByRole("link").click();
      await page.getByRole("button", { name: "Dry run", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Replay all 41" }).click();
      await expectShown(page.getByText(/^41 of 41 replayed, none failed again/));
      expect(await receiver.count("oncehook_failures")).toBe(0);
    },
    { handlers, env: OPEN, bulkPollMs: 50 },
    WIDE,
  );
});

it("a problem is muted with two clicks from the overview", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("paid", {}));
      await page.goto("/");
      await signIn(page);
      await page
        .locator(".card")
        .getByRole("button", { name: /^Mute: / })
        .click();
      await page.getByRole("button", { name: "For 1 hour" }).click();
      await expectShown(page.getByText("Nothing needs attention."));
      expect(await receiver.count("oncehook_audit", "action = 'problem.mute' AND outcome = 'done'")).toBe(1);
    },
    { handlers, env: OPEN },
    WIDE,
  );
});

it("the overview fits a screen with five sources and an open alert, which moves the chart by no pixel", {
  timeout: LIMIT_MS,
}, () => {
  const { handlers } = breaking({ a: "no a", b: "no b", c: "no c", d: "no d", e: "no e", f: "no f", g: "no g" });
  const sources = {
    one: shop(SECRET),
    two: shop(SECRET),
    three: shop(SECRET),
    billing: stripe({ secret: "whsec_of_it" }),
  };
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await page.goto("/");
      await signIn(page);
      await expectShown(rowOf(page, "billing"));
      const before = await chartTop(page);
      await execute(receiver.target, openAlert("silence", "billing"));
      for (const type of "abcdefg") await receiver.send(event(type, {}));
      await expectShown(page.getByText("billing: no callback comes"));
      expect(await chartTop(page)).toBe(before);
      expect(await page.locator(".source-table tbody tr").count()).toBe(5);
      const size = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]");
      expect(size).toEqual([1_440, 900]);
      await page.getByRole("button", { name: /^Mute: alert silence of billing/ }).click();
      await page.getByRole("button", { name: "For 8 hours" }).click();
      await expectShown(page.getByText(/^Muted until .* by Admin token$/));
      expect(await chartTop(page)).toBe(before);
      expect(problems).toEqual([]);
    },
    { handlers, env: OPEN, sources },
    WIDE,
  );
});

const SHIFTS = `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()
  .flatMap(({ sources }) => sources.map(({ node }) => node?.className ?? "text"))))
  .observe({ type: "layout-shift", buffered: true }) || setTimeout(resolve, 1_000, []))`;

it("nothing moves while the sources of an overview are still being read", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(payment());
      await page.goto("/");
      await signIn(page);
      await expectShown(rowOf(page, "platform"));
      const held = Promise.withResolvers<void>();
      await page.route("**/api/v1/sources/health", async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.reload();
      await expectShown(page.getByText("Reading the sources"));
      held.resolve();
      await expectShown(rowOf(page, "platform"));
      await expectShown(page.locator(".bar:has(i)").first());
      expect(await page.evaluate(SHIFTS)).toEqual([]);
      expect(problems).toEqual([]);
    },
    { env: OPEN, sources: { billing: stripe({ secret: "whsec_of_it" }) } },
    WIDE,
  ),
);

it("each source has its p99 beside its deadline, without a click", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment());
      await page.goto("/");
      await signIn(page);
      await expectShown(rowOf(page, "platform").getByText(/ ms$/));
      await expectShown(rowOf(page, "billing").getByText("No callback"));
    },
    { env: OPEN, sources: { billing: stripe({ secret: "whsec_of_it" }) } },
    WIDE,
  ),
);

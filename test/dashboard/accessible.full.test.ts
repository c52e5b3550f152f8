import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { event, payment } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 300_000;
const PATIENCE_MS = 60_000;
/** Every page, with its heading. */
const PAGES = [
  ["/activity", "Activity"],
  ["/activity?open=1", "Activity"],
  ["/activity?open=platform/evt_2", "Activity"],
  ["/problems", "Problems"],
  ["/problems/replays", "Bulk replays"],
  ["/problems/replays/1", "Bulk replays"],
  ["/problems/backfills", "Backfills"],
  ["/sources", "Sources"],
  ["/sources/platform", "platform"],
  ["/sandbox", "Sandbox"],
  ["/settings", "Configuration"],
  ["/settings?show=all", "Configuration"],
  ["/settings/checks", "Checks"],
  ["/settings/storage", "Storage"],
  ["/settings/background", "Background work"],
  ["/settings/alerts", "Alerts"],
  ["/settings/audit", "Audit log"],
  ["/nowhere", "No such page"],
  ["/", "Overview"],
] as const;

/** Goes there without a reload, as a click would, and waits until what it shows has been read. */
async function go(page: Page, [path, heading]: readonly [path: string, heading: string]): Promise<void> {
  const steps = `history.pushState({}, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`;
  await page.evaluate(steps);
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await until(async () => (await page.getByText(/^Reading /).count()) === 0, PATIENCE_MS);
}

it.each(["light", "dark"] as const)("axe finds no violation on any page: %s", { timeout: LIMIT_MS }, (colorScheme) =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(payment({ event_id: "evt_1" }));
      await receiver.send(payment(), { secret: "another secret of the same length" });
      await receiver.send(event("unreliable", {}, { event_id: "evt_2" }));
      await page.goto("/sign-in");
      await page.getByLabel("Admin token").waitFor();
      const found: Record<string, string[]> = { "/sign-in": await violations(page) };
      await signIn(page);
      for (const shown of PAGES) {
        await go(page, shown);
        found[shown[0]] = await violations(page);
      }
      await go(page, ["/sources/stripe?span=hour", "stripe"]);
      await expectShown(page.getByText("Deadline 10 s"));
      found.stripe = await violations(page);
      const { items } = (await receiver.admin("/api/v1/problems")).body as { items: { id: string }[] };
      await go(page, [`/problems/${items[0]?.id}`, "Problems"]);
      await page.getByRole("group", { name: "The error with its stack" }).waitFor();
      found.problem = await violations(page);
      const panel = page.getByRole("complementary", { name: "Problem" });
      await panel.getByRole("button", { name: "Mute", exact: true }).click();
      await page.getByRole("button", { name: "For 8 hours" }).waitFor();
      found.mute = await violations(page);
      await page.keyboard.press("Escape");
      await panel.getByRole("button", { name: "Dry run", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).waitFor();
      found.dialog = await violations(page);
      expect(Object.entries(found).filter(([, lines]) => lines.length > 0)).toEqual([]);
      expect(problems).toEqual([]);
    },
    {
      handlers: [unreliable().handler],
      env: { RETRY_MAX: "0", SOURCES: "stripe", STRIPE_SECRET: "whsec_of-the-tests" },
    },
    { colorScheme, reducedMotion: "reduce" },
  ),
);

it.each([
  ["/activity", ".activity-row"],
  ["/problems", ".problem-row"],
])(
  "the keyboard alone comes to the first row of %s within six tabs, and opens it",
  { timeout: LIMIT_MS },
  (path, row) =>
    withDashboard(
      async ({ page, receiver }) => {
        await receiver.send(event("unreliable", {}));
        await page.goto(path);
        await signIn(page);
        // The keyboard begins at the top of a page that was just opened.
        await page.reload();
        await page.locator(row).first().waitFor();
        const focused = (selector: string) =>
          page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        let tabs = 0;
        for (; tabs < 6 && (await focused("[href='#list']")) === false; tabs += 1) await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await expect.poll(() => focused("#list"), { timeout: PATIENCE_MS }).toBe(true);
        await page.keyboard.press("ArrowDown");
        await expect.poll(() => focused(row), { timeout: PATIENCE_MS }).toBe(true);
        expect(tabs).toBeLessThanOrEqual(6);
        await page.keyboard.press("Enter");
        await expectShown(page.getByRole("complementary"));
      },
      { handlers: [unreliable().handler], env: { RETRY_MAX: "0" } },
      { viewport: { width: 1_440, height: 900 } },
    ),
);

it("the dashboard fits a telephone of 360 pixels: no page scrolls sideways", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "e".repeat(200) }));
      await page.goto("/sign-in");
      await signIn(page);
      const wide: string[] = [];
      for (const shown of PAGES) {
        await go(page, shown);
        const width: unknown = await page.evaluate("document.documentElement.scrollWidth");
        if (Number(width) > 360) wide.push(`${shown[0]}: ${width}`);
      }
      expect(wide).toEqual([]);
    },
    { handlers: [unreliable().handler], env: { RETRY_MAX: "0" } },
    { viewport: { width: 360, height: 740 } },
  ),
);

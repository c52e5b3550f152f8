import { expect, it } from "vitest";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
/** The second half past one of the night in which New York sets its clocks back, and not on the second. */
const FROM = "2026-11-01T06:30:15.250Z";

it("the times of the address stay unchanged when another filter changes", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto(`/callbacks?from=${FROM}&to=2026-11-30T05:00:00.000Z`);
      await signIn(page);
      await page.getByLabel("Event id").fill("evt_1");
      await page.keyboard.press("Enter");
      await page.waitForURL(/event_id=evt_1/);
      const { searchParams } = new URL(page.url());
      expect([searchParams.get("from"), searchParams.get("to")]).toEqual([FROM, "2026-11-30T05:00:00.000Z"]);
    },
    {},
    { timezoneId: "America/New_York" },
  ),
);

it("a typed time is read in the time zone that its label names", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto(`/callbacks?from=${FROM}`);
      await signIn(page);
      await page.getByLabel("From (America/New_York)").fill("2026-11-02T08:00:00");
      await page.keyboard.press("Enter");
      const from = () => new URL(page.url()).searchParams.get("from");
      await expect.poll(from, { timeout: 60_000 }).toBe("2026-11-02T13:00:00.000Z");
    },
    {},
    { timezoneId: "America/New_York" },
  ),
);

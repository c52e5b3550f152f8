import { expect, it } from "vitest";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
/** The second half past one of the night in which New York sets its clocks back, and not on the second. */
const FROM = "2026-11-01T06:30:15.250Z";

it("the times of the address stay unchanged when one of them or another filter changes", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto(`/activity?from=${FROM}&to=2026-11-30T05:00:00.000Z`);
      await signIn(page);
      const times = () => {
        const { searchParams } = new URL(page.url());
        return [searchParams.get("from"), searchParams.get("to")];
      };
      await page.getByRole("button", { name: "Event id", exact: true }).click();
      await page.getByRole("textbox", { name: "Event id" }).fill("evt_1");
      await page.keyboard.press("Enter");
      await page.waitForURL(/event_id=evt_1/);
      expect(times()).toEqual([FROM, "2026-11-30T05:00:00.000Z"]);
      await page.getByRole("button", { name: /^Time / }).click();
      await page.getByLabel("To (America/New_York)").fill("2026-11-30T01:00:00");
      await page.keyboard.press("Enter");
      await expect.poll(times, { timeout: 60_000 }).toEqual([FROM, "2026-11-30T06:00:00.000Z"]);
    },
    {},
    { timezoneId: "America/New_York" },
  ),
);

it.each([
  ["", "From (America/New_York)", "2026-11-02T13:00:00.000Z"],
  ["?tz=utc", "From (UTC)", "2026-11-02T08:00:00.000Z"],
])(
  "a typed time is read in the time zone that its label names: %s %s",
  { timeout: LIMIT_MS },
  (search, label, moment) =>
    withDashboard(
      async ({ page }) => {
        await page.goto(`/activity${search}`);
        await signIn(page);
        await page.getByRole("button", { name: "Time", exact: true }).click();
        await page.getByLabel(label).fill("2026-11-02T08:00:00");
        await page.keyboard.press("Enter");
        const from = () => new URL(page.url()).searchParams.get("from");
        await expect.poll(from, { timeout: 60_000 }).toBe(moment);
      },
      {},
      { timezoneId: "America/New_York" },
    ),
);

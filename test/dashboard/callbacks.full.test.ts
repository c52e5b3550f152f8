import { expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

it("an empty list states what would fill it", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/callbacks");
    await signIn(page);
    await expectShown(page.getByText("No callback has arrived yet."));
  }),
);

it("the list shows callbacks newest first, and reads on to the oldest", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      for (let at = 0; at < 120; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      await page.goto("/callbacks");
      await signIn(page);
      const rows = page.getByRole("table").locator("tbody tr");
      await rows.first().getByText("evt_119").waitFor();
      await until(async () => (await rows.count()) === 50, PATIENCE_MS);
      // By the keyboard, which does not scroll.
      await page.getByRole("button", { name: "Load more" }).focus();
      await page.keyboard.press("Enter");
      await until(async () => (await rows.count()) > 50, PATIENCE_MS);
      await until(async () => {
        await page.mouse.wheel(0, 100_000);
        return (await rows.count()) === 120;
      }, PATIENCE_MS);
      await page.getByText("End of results").waitFor();
      expect(problems).toEqual([]);
    },
    { env: OPEN },
  ),
);

it("the list keeps its filter in the address, where a reload finds it", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      for (const id of ["0012", "1e5", "evt_c"]) await receiver.send(payment({ event_id: id }));
      await page.goto("/callbacks?event_id=1e5&nobody=knows-this");
      await signIn(page);
      const rows = page.getByRole("table").locator("tbody tr");
      await rows.getByText("1e5").waitFor();
      expect(await rows.count()).toBe(1);
      await page.getByLabel("Event id").fill("0012");
      await page.keyboard.press("Enter");
      await rows.getByText("0012").waitFor();
      expect(await rows.count()).toBe(1);
      expect(new URL(page.url()).search).toBe("?event_id=0012");
      await page.goBack();
      await rows.getByText("1e5").waitFor();
    },
    { env: OPEN },
  ),
);

import { expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;

it("lists as refused whatever was answered 4xx, and narrows to one status", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment(), { secret: "another secret of the same length" });
      await receiver.send(payment({ event_id: "evt_limited" }));
      await page.goto("/refused");
      await signIn(page);
      const rows = page.getByRole("table").locator("tbody tr");
      await rows.getByText("too many requests").waitFor();
      expect(await rows.count()).toBe(2);
      await page.getByText("Filters", { exact: true }).click();
      await page.getByLabel("Status").selectOption("401");
      await page.getByRole("button", { name: "Apply the filters" }).click();
      await rows.getByText("too many requests").waitFor({ state: "hidden" });
      expect(await rows.count()).toBe(1);
      expect(new URL(page.url()).search).toBe("?status=401");
    },
    { env: { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "1/minute" } },
  ),
);

it("does not call authentic what came where nothing was refused", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/refused");
    await signIn(page);
    const nothing = page.getByText("No callback that fits was refused");
    await nothing.waitFor();
    expect(await nothing.textContent()).not.toContain("authentic");
  }),
);

import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const PATIENCE_MS = 60_000;

/** How wide the value of the user agent's header stands, in pixels. */
async function valueWidth(page: Page): Promise<number> {
  const value = page.locator(".fact").filter({ hasText: "user-agent" }).locator("dd");
  await value.waitFor();
  return (await value.boundingBox())?.width ?? 0;
}

it("the headers stay readable beside one with a long name", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment(), { headers: { [`x-${"n".repeat(2_000)}`]: "1", "user-agent": "me" } });
      await page.goto("/callbacks/1");
      await signIn(page);
      expect(await valueWidth(page)).toBeGreaterThan(400);
      await page.setViewportSize({ width: 360, height: 740 });
      await expect.poll(() => valueWidth(page), { timeout: PATIENCE_MS }).toBeGreaterThan(200);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    },
    {},
    { viewport: { width: 1_200, height: 800 } },
  ),
);

it("the page offers no command for an OAuth redirect, and states the reason", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver }) => {
    await fetch(`${receiver.publicOrigin}/api/platform/oauth-callback?code=a&state=b`);
    await page.goto("/callbacks/1");
    await signIn(page);
    await page.getByText("the code of an OAuth redirect works once").waitFor();
    await page.getByText("Not authentic: it was refused").waitFor();
    expect(await page.getByRole("button", { name: "Copy as curl" }).count()).toBe(0);
  }),
);

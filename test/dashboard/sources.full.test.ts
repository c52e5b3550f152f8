import { expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
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

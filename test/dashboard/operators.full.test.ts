import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type OperatorsTest, withOperators } from "../support/operators.ts";
import { expectShown, withPage } from "./dashboard.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 120_000;

/** Goes to the provider by the button, signs in there and consents. */
async function signInAtProvider(page: Page, { platform, base }: OperatorsTest, login: string, to = ""): Promise<void> {
  await page.goto(base + to);
  await page.getByRole("link", { name: new URL(platform.issuer).host }).click();
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("heading", { name: "Authorize" }).waitFor();
  await page.locator("button[type=submit]").click();
}

it("the provider's button signs an operator in, and the page shows the name", { timeout: LIMIT_MS }, () =>
  withOperators("sqlite", (test) =>
    withPage(test.base, async ({ page }) => {
      await signInAtProvider(page, test, "ada");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.getByText("ada@example.com").first().waitFor();
      expect(page.url()).toBe(`${test.base}/`);
      // The way back has left neither its code nor its state where a reload would send them again.
      await page.reload();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    }),
  ),
);

it("the sign-in with a provider is one that everybody can use", { timeout: LIMIT_MS }, () =>
  withOperators("sqlite", (test) =>
    withPage(test.base, async ({ page }) => {
      await page.goto(test.base);
      await page.getByRole("link", { name: new URL(test.platform.issuer).host }).waitFor();
      expect(await violations(page)).toEqual([]);
    }),
  ),
);

it("the page after the sign-in is the one that a link led to, with its filter", { timeout: LIMIT_MS }, () =>
  withOperators("sqlite", (test) =>
    withPage(test.base, async ({ page }) => {
      const to = "/problems?failure_state=exhausted&event_type=a%26b";
      await signInAtProvider(page, test, "ada", to);
      await page.getByRole("heading", { name: "Problems" }).waitFor();
      const { pathname, searchParams } = new URL(page.url());
      expect([pathname, searchParams.get("failure_state"), searchParams.get("event_type")]).toEqual([
        "/problems",
        "exhausted",
        "a&b",
      ]);
    }),
  ),
);

it("a user whom the provider knows but neither list names is rejected with a message", { timeout: LIMIT_MS }, () =>
  withOperators("sqlite", (test) =>
    withPage(test.base, async ({ page }) => {
      await signInAtProvider(page, test, "mallory");
      await expectShown(page.getByText(/on neither list/));
      await page.goto(`${test.base}/callbacks`);
      await page.waitForURL(/\/sign-in/);
    }),
  ),
);

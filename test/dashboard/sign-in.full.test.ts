import { expect, it } from "vitest";
import { TOKEN } from "../support/secrets.ts";
import { expectShown, sendToken, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;

it("the page asks for the token, and then shows the requested page", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, problems }) => {
    await page.goto("/problems?failure_state=exhausted");
    await page.waitForURL(/\/sign-in\?back=/);
    await signIn(page);
    await page.getByRole("heading", { name: "Problems" }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/problems?failure_state=exhausted");
    expect(problems).toEqual([]);
  }),
);

it("a wrong token is reported, and shows nothing", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/callbacks");
    await sendToken(page, "not-the-admin-token");
    await page.getByText("This is not the receiver's admin token.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
  }),
);

it("the token is kept nowhere that outlives the page, and in no address", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/");
    await signIn(page);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const kept = await page.evaluate(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.body.innerHTML])",
    );
    expect(kept).not.toContain(TOKEN);
    expect(page.url()).not.toContain(TOKEN);
  }),
);

it("a cookie that no script reads keeps the session over a reload", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/problems");
    await signIn(page);
    const cookies = await page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
      { httpOnly: true, sameSite: "Strict" },
    ]);
    await page.reload();
    await page.getByRole("heading", { name: "Problems" }).waitFor();
  }),
);

it("the sign-in leads to no other host", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver }) => {
    await page.goto("/sign-in?back=//example.com/");
    await signIn(page);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(page.url()).toBe(`${receiver.adminOrigin}/`);
  }),
);

it("signing out clears all data", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/problems");
    await signIn(page);
    await page.getByRole("heading", { name: "Problems" }).waitFor();
    await page.getByRole("button", { name: "Admin token, operator" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expectShown(page.getByLabel("Admin token"));
    await page.goto("/problems");
    await page.waitForURL(/\/sign-in/);
  }),
);

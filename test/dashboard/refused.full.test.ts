import { expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const PATIENCE_MS = 60_000;

it(
  "the page lists as refused each callback with a 4xx response and its error, no endpoint check, and filters by status",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        await receiver.admin("/api/v1/sources/platform/check", { method: "POST" });
        expect(await receiver.count("oncehook_callbacks", "outcome = 'endpoint_check'")).toBe(3);
        await receiver.send(payment(), { secret: "another secret of the same length" });
        await receiver.send(payment({}, { amount: "ten" }));
        await receiver.send(payment({ event_id: "evt_limited" }));
        await page.goto("/refused");
        await signIn(page);
        const rows = page.getByRole("table").locator("tbody tr");
        await rows.getByText("too many requests").waitFor();
        await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(3);
        await rows.getByText(/^data\.amount: /).waitFor();
        await page.getByText("Filters", { exact: true }).click();
        await page.getByLabel("Status").selectOption("401");
        await page.getByRole("button", { name: "Apply" }).click();
        await rows.getByText("too many requests").waitFor({ state: "hidden" });
        await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(1);
        expect(new URL(page.url()).search).toBe("?status=401");
      },
      { env: { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "5/minute" } },
    ),
);

it("an empty page of refused callbacks calls nothing authentic", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/refused");
    await signIn(page);
    const nothing = page.getByText("No refused callbacks match");
    await nothing.waitFor();
    expect(await nothing.textContent()).not.toContain("authentic");
  }),
);

it.each([1_280, 780])(
  "times and addresses keep a line beside a long diagnosis, and nothing scrolls sideways: %i pixels",
  { timeout: LIMIT_MS },
  (width) =>
    withDashboard(
      async ({ page, receiver }) => {
        await receiver.send(payment(), { headers: { "x-signature": `sha256=${"0".repeat(64)}` } });
        await page.goto("/refused");
        await signIn(page);
        await page.getByText("Send the 64 digits alone").waitFor();
        const address = page.getByText("127.0.0.1", { exact: true });
        const { height = 0 } = (await address.boundingBox()) ?? {};
        if (width === 1_280) expect(height).toBeLessThan(30);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      },
      {},
      { viewport: { width, height: 800 } },
    ),
);

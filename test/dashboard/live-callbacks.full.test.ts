import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { payment, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

async function sendMany(receiver: TestReceiver, name: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await receiver.send(payment({ event_id: `${name}_${at}` }));
}

async function openLive(page: Page): Promise<void> {
  await page.goto("/callbacks");
  await signIn(page);
  await page.getByText("Live", { exact: true }).waitFor();
}

/** Headless, a browser's pages are always seen; this is what it does when its user goes to another tab, and back. */
async function turn(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));`,
  );
}

async function listed(receiver: TestReceiver): Promise<string> {
  return JSON.stringify((await receiver.admin("/api/v1/callbacks")).body);
}

it("the live list has a row for every callback since it was opened", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await sendMany(receiver, "before", 5);
      await openLive(page);
      await sendMany(receiver, "live", 260);
      const rows = page.getByRole("table").locator("tbody tr");
      await expectShown(rows.getByText("live_259", { exact: true }));
      await until(async () => {
        await page.mouse.wheel(0, 100_000);
        return (await rows.count()) === 265;
      }, PATIENCE_MS);
    },
    { env: OPEN },
  ),
);

it("the live page counts all callbacks that arrive while it is paused", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await openLive(page);
      await page.getByRole("button", { name: "Pause" }).click();
      await sendMany(receiver, "held", 210);
      await expectShown(page.getByText("Paused; 210 new"));
    },
    { env: OPEN },
  ),
);

it("the list shows the callbacks that came while another page was open", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await sendMany(receiver, "before", 1);
      await openLive(page);
      // What was read in the last seconds is not asked for again, so this must be quick to show anything.
      await page.reload();
      await page.getByRole("link", { name: "before_0" }).click();
      await expectShown(page.getByRole("heading", { name: "Event before_0" }));
      await receiver.send(payment({ event_id: "between" }));
      await until(async () => (await listed(receiver)).includes("between"));
      // The receiver looks for new ones every half second, and once more when nobody listens any longer.
      const sent = performance.now();
      await until(() => performance.now() > sent + 1_500);
      await page.goBack();
      await page.getByRole("link", { name: "between" }).waitFor({ timeout: PATIENCE_MS });
    },
    { env: OPEN },
  ),
);

it(
  "a hidden live page holds no connection, and shows the new callbacks when it is visible again",
  { timeout: LIMIT_MS },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        const open = new Set<object>();
        page.on("request", (request) => request.url().includes("/api/v1/live") && open.add(request));
        for (const end of ["requestfailed", "requestfinished"] as const)
          page.on(end as "requestfailed", (request) => open.delete(request));
        await openLive(page);
        expect(open.size).toBe(1);
        await turn(page, "hidden");
        await until(() => open.size === 0, PATIENCE_MS);
        await receiver.send(payment({ event_id: "unseen" }));
        await turn(page, "visible");
        await page.getByRole("link", { name: "unseen" }).waitFor();
        expect(open.size).toBe(1);
      },
      { env: OPEN },
    ),
);

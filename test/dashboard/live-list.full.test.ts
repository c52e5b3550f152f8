import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { payment, type TestReceiver } from "../support/receiver.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };
const WIDE = { viewport: { width: 1_440, height: 900 } };

const rowsOf = (page: Page) => page.locator(".activity-row");

/** Looks at each frame, until it is asked, whether a row in view is elsewhere than at the frame of its first sight. */
const WATCH_ROWS = `(() => {
  const tops = new Map();
  const list = document.querySelector(".activity-list").getBoundingClientRect();
  window.watched = { frames: 0, moved: [] };
  const look = () => {
    window.watched.frames += 1;
    for (const row of document.querySelectorAll(".activity-row")) {
      const { top, bottom } = row.getBoundingClientRect();
      if (bottom < list.top || top > list.bottom) continue;
      const was = tops.get(row.dataset.id) ?? top;
      if (was !== top) window.watched.moved.push(row.dataset.id + ": " + was + " to " + top);
      tops.set(row.dataset.id, was);
    }
    window.watching = requestAnimationFrame(look);
  };
  look();
})()`;

/** Twenty callbacks in a second. @returns rows that moved meanwhile, and how often they were looked at */
async function watchASecond({ page, receiver, name }: { page: Page; receiver: TestReceiver; name: string }) {
  await page.evaluate(WATCH_ROWS);
  const sent = Array.from({ length: 20 }, async (_, at) => {
    await sleep(at * 50);
    await receiver.send(payment({ event_id: `${name}_${at}` }));
  });
  await Promise.all(sent);
  return async () => (await page.evaluate("cancelAnimationFrame(watching), watched")) as { moved: []; frames: number };
}

it(
  "no visible row moves at twenty callbacks a second, at the top and scrolled, until the reader asks",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        for (let at = 0; at < 60; at += 1) await receiver.send(payment({ event_id: `before_${at}` }));
        await page.goto("/activity");
        await signIn(page);
        await page.getByText("Live", { exact: true }).waitFor();
        const row = rowsOf(page).filter({ hasText: "before_59" });
        await row.waitFor();
        const was = (await row.boundingBox())?.y ?? 0;
        for (const [scrolled, pill] of [
          [0, "20 new"],
          [310, "40 new"],
        ] as const) {
          await page.evaluate(`document.querySelector(".activity-list").scrollTo(0, ${scrolled})`);
          const watched = await watchASecond({ page, receiver, name: `live_${scrolled}` });
          await expectShown(page.getByRole("button", { name: pill }));
          const { moved, frames } = await watched();
          expect(moved).toEqual([]);
          expect(frames).toBeGreaterThan(10);
        }
        await page.getByRole("button", { name: "40 new" }).click();
        await expectShown(rowsOf(page).getByText("live_310_19", { exact: true }));
        await page.evaluate("document.querySelector('.activity-list').scrollTo(0, 40 * 32)");
        await expect.poll(async () => (await row.boundingBox())?.y, { timeout: PATIENCE_MS }).toBe(was);
      },
      { env: OPEN },
      WIDE,
    ),
);

import type { Page } from "playwright-core";
import { until } from "../support/until.ts";

const PATIENCE_MS = 60_000;

/** An address, with the heading of its page. */
export type Route = readonly [path: string, heading: string];

/** Every page, and the lists with a panel that a test's data has. */
export const PAGES: readonly Route[] = [
  ["/activity", "Activity"],
  ["/activity?open=1", "Activity"],
  ["/activity?open=platform/evt_2", "Activity"],
  ["/problems", "Problems"],
  ["/problems/replays", "Bulk replays"],
  ["/problems/replays/1", "Bulk replays"],
  ["/problems/backfills", "Backfills"],
  ["/sources", "Sources"],
  ["/sources/platform", "platform"],
  ["/sandbox", "Sandbox"],
  ["/settings", "Configuration"],
  ["/settings?show=all", "Configuration"],
  ["/settings/checks", "Checks"],
  ["/settings/storage", "Storage"],
  ["/settings/background", "Background work"],
  ["/settings/alerts", "Alerts"],
  ["/settings/audit", "Audit log"],
  ["/nowhere", "No such page"],
  ["/", "Overview"],
];

/** Goes there without a reload, as a click would, and waits until what it shows has been read. */
export async function go(page: Page, [path, heading]: Route): Promise<void> {
  const steps = `history.pushState({}, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`;
  await page.evaluate(steps);
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await isRead(page);
}

/** Waits until nothing on the page is being read any more. */
export function isRead(page: Page): Promise<void> {
  return until(async () => (await page.getByText(/^Reading /).count()) === 0, PATIENCE_MS);
}

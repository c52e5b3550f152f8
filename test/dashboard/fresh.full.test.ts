import { expect, it } from "vitest";
import { event, payment } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { expectShown, inItsOwnTime, signIn, untilInItsTime, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
/** So often the overview is read when nothing is told. */
const BY_ITSELF_MS = 15_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

const discarded = (id: string) => [`/api/v1/failures/platform/${id}`, { method: "DELETE" }] as const;

it("the page shows that one of a long list of failures has gone", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      for (let at = 0; at < 60; at += 1) await receiver.send(event("unreliable", {}, { event_id: `evt_${at}` }));
      await inItsOwnTime(page);
      await page.goto("/failures");
      await signIn(page);
      const rows = page.getByRole("table").locator("tbody tr");
      await until(async () => (await rows.count()) === 50, PATIENCE_MS);
      // The list reads on when its end comes into view.
      await page.keyboard.press("End");
      await until(async () => (await rows.count()) === 60, PATIENCE_MS);
      expect((await receiver.admin(...discarded("evt_59"))).status).toBe(204);
      await untilInItsTime(page, async () => (await rows.count()) === 59);
    },
    { handlers: [unreliable().handler], env: OPEN },
  ),
);

it("the list drops a failure that another operator has discarded, and reports it", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_gone" }));
      await page.goto("/failures");
      await signIn(page);
      const retry = page.getByRole("button", { name: "Replay: evt_gone" });
      await retry.waitFor();
      await receiver.admin(...discarded("evt_gone"));
      await retry.click();
      await page.getByText("evt_gone: no failure under this source and event_id").waitFor();
      await expectShown(page.getByText("No failures match."));
    },
    { handlers: [unreliable().handler], env: OPEN },
  ),
);

it("the page of a failed event updates until its failure is closed", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_story" }));
      await inItsOwnTime(page);
      await page.goto("/activity?open=platform/evt_story");
      await signIn(page);
      await page.getByText("No automatic retry is left").waitFor();
      await receiver.admin(...discarded("evt_story"));
      const over = page.getByText(/^Failed with 500: /);
      await untilInItsTime(page, () => over.isVisible());
      expect(await over.count()).toBe(1);
    },
    { handlers: [unreliable().handler], env: OPEN },
  ),
);

it("a relative time updates as time passes", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment({ event_id: "evt_time" }));
      await page.clock.install();
      await page.goto("/activity?open=platform/evt_time");
      await signIn(page);
      await page.getByText(/^Handled once, in /).waitFor();
      await page.clock.runFor(125_000);
      await expectShown(page.getByText(/\(2 minutes ago\)/));
    },
    { env: OPEN },
  ),
);

it("the chart of durations shows a minute between empty ones", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment());
      await page.goto("/");
      await signIn(page);
      const lines = page.getByRole("region", { name: "Latency" });
      await expect.poll(() => lines.locator("circle").count(), { timeout: PATIENCE_MS }).toBeGreaterThan(0);
    },
    { env: OPEN },
  ),
);

it("the page shows what needs attention as soon as it is counted", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await page.goto("/");
      await signIn(page);
      await page.getByText("Nothing needs attention.").waitFor();
      const asked: number[] = [];
      page.on("requestfinished", (request) => {
        if (request.url().includes("/api/v1/overview")) asked.push(request.timing().startTime);
      });
      await page.reload();
      await page.getByText("Nothing needs attention.").waitFor();
      await receiver.send(event("unreliable", {}));
      await page.getByText("1 event has failed at every attempt").waitFor();
      const [first = 0, second = 0] = asked;
      expect(second - first).toBeLessThan(BY_ITSELF_MS);
    },
    { handlers: [unreliable().handler], env: OPEN },
  ),
);

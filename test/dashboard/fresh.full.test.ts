import { expect, it } from "vitest";
import { event, payment } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { expectShown, inItsOwnTime, signIn, untilInItsTime, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
/** So often the overview is read when nothing is told. */
const BY_ITSELF_MS = 15_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

const discarded = (id: string) => [`/api/v1/failures/platform/${id}`, { method: "DELETE" }] as const;

it("the list of problems drops one whose failures another operator has discarded", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_gone" }));
      await inItsOwnTime(page);
      await page.goto("/problems");
      await signIn(page);
      const rows = page.locator(".problem-row");
      await rows.waitFor();
      expect((await receiver.admin(...discarded("evt_gone"))).status).toBe(204);
      await untilInItsTime(page, async () => (await rows.count()) === 0);
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
      await page.locator(".card", { hasText: "1 failed" }).waitFor();
      const [first = 0, second = 0] = asked;
      expect(second - first).toBeLessThan(BY_ITSELF_MS);
    },
    { handlers: [unreliable().handler], env: OPEN },
  ),
);

import { expect, it } from "vitest";
import { payment } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, inItsOwnTime, signIn, untilInItsTime } from "./dashboard.ts";
import { withTroubledDashboard } from "./troubled-way.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

it("a hanging overview is reported instead of an empty list of what needs attention", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await inItsOwnTime(page);
    await page.goto("/");
    await signIn(page);
    await page.getByText("Nothing needs attention.").waitFor();
    troubles.set("/api/v1/overview", "hangs");
    await untilInItsTime(page, () => page.getByText("updates have stopped").isVisible());
    expect(await page.getByText("Nothing needs attention.").count()).toBe(0);
  }),
);

it("the page reports a receiver that hangs", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await inItsOwnTime(page);
    await page.goto("/sources");
    await signIn(page);
    await expectShown(page.getByRole("row", { name: /platform/ }));
    troubles.set("/api/v1/problems", "hangs");
    await page.getByRole("link", { name: "Problems" }).click();
    const told = page.getByText("The receiver did not answer");
    await untilInItsTime(page, async () => (await told.count()) === 1 && told.isVisible());
  }),
);

it("the live stream is tried again when its first response is an error", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await inItsOwnTime(page);
    troubles.set("/api/v1/live", 500);
    await page.goto("/");
    await signIn(page);
    const away = page.getByText("live updates disconnected");
    await away.waitFor();
    troubles.clear();
    await untilInItsTime(page, async () => !(await away.isVisible()));
    await page.getByRole("link", { name: "Activity" }).click();
    await expectShown(page.getByText("Live", { exact: true }));
  }),
);

it("a refused live stream leads to the sign-in", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await page.goto("/problems");
    await signIn(page);
    await expectShown(page.getByRole("heading", { name: "Problems" }));
    troubles.set("/api/v1/live", 401);
    await page.getByRole("link", { name: "Activity" }).click();
    await page.waitForURL(/\/sign-in\?back=/);
  }),
);

it("the page appears at the second attempt when the session could not be read", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await page.goto("/problems");
    await signIn(page);
    await page.getByRole("heading", { name: "Problems" }).waitFor();
    troubles.set("/api/v1/session", 500);
    await page.reload();
    await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
    troubles.clear();
    await page.getByRole("button", { name: "Try again" }).click();
    await expectShown(page.getByRole("heading", { name: "Problems" }));
  }),
);

it("other pages open while the session cannot be read again", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles }) => {
    await page.clock.install();
    await page.goto("/problems");
    await signIn(page);
    await expectShown(page.getByRole("heading", { name: "Problems" }));
    troubles.set("/api/v1/session", 500);
    // Past the time for which the session counts as known.
    await page.clock.runFor(61_000);
    await page.getByRole("link", { name: "Settings" }).click();
    await until(async () => {
      await page.clock.runFor(2_000);
      return page.getByRole("heading", { name: "Configuration" }).isVisible();
    }, PATIENCE_MS);
  }),
);

it("rows stay visible when older ones cannot be read", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(
    async ({ page, receiver, troubles }) => {
      for (let at = 0; at < 60; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      await page.goto("/sources");
      await signIn(page);
      await expectShown(page.getByRole("row", { name: /platform/ }));
      troubles.set("/api/v1/callbacks?limit=50&cursor", 500);
      await page.getByRole("link", { name: "Activity" }).click();
      const rows = page.locator(".activity-row");
      await expectShown(rows.filter({ hasText: "evt_59" }));
      await page.evaluate("document.querySelector('.activity-list').scrollBy(0, 100000)");
      await page.getByText("More results could not be loaded").waitFor();
      await expectShown(rows.filter({ hasText: "evt_10" }));
      troubles.clear();
      await page.getByRole("button", { name: "Load more" }).click();
      await until(async () => {
        await page.evaluate("document.querySelector('.activity-list').scrollBy(0, 100000)");
        return page.locator(".cell-event").getByText("evt_0", { exact: true }).isVisible();
      }, PATIENCE_MS);
    },
    { env: OPEN },
  ),
);

it("an event stays in its panel when it cannot be read again", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(
    async ({ page, receiver, troubles }) => {
      await receiver.send(payment({ event_id: "evt_kept" }));
      await page.goto("/activity?open=1");
      await signIn(page);
      await page.getByText(/^Handled once, in /).waitFor();
      troubles.set("/api/v1/callbacks/1", 500);
      // Past the time for which the data counts as fresh.
      await page.clock.install();
      await page.getByRole("button", { name: "Close" }).click();
      await page.clock.runFor(6_000);
      await page.locator(".activity-row").click();
      await until(async () => {
        await page.clock.runFor(2_000);
        return page.getByText("The callback could not be read").isVisible();
      }, PATIENCE_MS);
      expect(await page.getByText(/^Handled once, in /).count()).toBe(1);
    },
    { env: OPEN },
  ),
);

it("pages stay while the receiver is away, say since when, and continue by themselves", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, troubles, problems }) => {
    await inItsOwnTime(page);
    await page.goto("/sources");
    await signIn(page);
    await expectShown(page.getByRole("row", { name: /Built-in protocol/ }));
    // The pages that may be opened later are read ahead.
    await page.waitForLoadState("networkidle");
    troubles.set("/", "away");
    const now = async () => Number(await page.evaluate("Date.now()"));
    const since = await now();
    const banner = page.getByText(/^The receiver does not respond\. Last response: \d/);
    await until(async () => {
      await page.clock.runFor(250);
      return banner.isVisible();
    }, PATIENCE_MS);
    expect((await now()) - since).toBeLessThanOrEqual(5_000);
    await expectShown(page.getByRole("row", { name: /Built-in protocol/ }));
    const settings = page.getByRole("heading", { name: "Configuration" });
    await page.getByRole("link", { name: "Settings" }).click();
    await untilInItsTime(page, () => settings.isVisible());
    await page.getByRole("link", { name: "Sources", exact: true }).click();
    await untilInItsTime(page, () => page.getByText("The sources could not be read").isVisible());
    await expectShown(page.getByRole("row", { name: /Built-in protocol/ }));
    troubles.clear();
    await untilInItsTime(page, async () => (await banner.count()) === 0);
    await untilInItsTime(page, async () => (await page.getByText("could not be read").count()) === 0);
    await expectShown(page.getByRole("row", { name: /Built-in protocol/ }));
    expect(problems).toEqual([]);
  }),
);

it("an address of the page that does not exist says so and links back", { timeout: LIMIT_MS }, () =>
  withTroubledDashboard(async ({ page, receiver }) => {
    await page.goto("/sources");
    await signIn(page);
    const response = await page.goto("/call-backs/7");
    expect(response?.status()).toBe(404);
    await expectShown(page.getByRole("heading", { name: "No such page" }));
    await expectShown(page.getByText("There is nothing at /call-backs/7."));
    await page.getByRole("link", { name: "Back to overview" }).click();
    await expectShown(page.getByRole("heading", { name: "Overview" }));
    for (const [path, reason] of [
      ["/callbacks/987654", "there is no such callback"],
      ["/callbacks/seven", "id: got"],
      ["/events/platform/none", "there is no event with this source"],
    ]) {
      await page.goto(path ?? "");
      await expectShown(page.getByText(reason ?? "", { exact: false }));
      await page.getByRole("link", { name: "Back to overview" }).click();
      await expectShown(page.getByRole("heading", { name: "Overview" }));
    }
    const { status, body } = await receiver.admin("/call-backs/7", {
      headers: { accept: "application/json" },
    });
    expect([status, body]).toEqual([404, { error: "not found" }]);
  }),
);

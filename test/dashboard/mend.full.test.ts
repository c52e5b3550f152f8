import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { event, payment } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";
import { LIMIT_MS, OPEN, PATIENCE_MS, panelOf, rowOf, WIDE, withFailures } from "./problem-list.ts";

const resultOf = (page: Page) => page.getByRole("region", { name: "Bulk replay" });

it("41 failures of a cause are run dry, replayed and resolved from their panel, and nothing else is", {
  timeout: LIMIT_MS,
}, () => {
  return withFailures(
    { paid: [41, "no row"], order: [2, "no sku"] },
    async ({ page, receiver, problems, broken }) => {
      broken.delete("paid");
      await rowOf(page, "no row").locator(".cell-what").click();
      await panelOf(page).getByRole("button", { name: "Dry run" }).click();
      const dialog = page.getByRole("dialog");
      await expectShown(dialog.getByText("Would be handled"));
      await expectShown(dialog.getByText("nothing has changed"));
      await expectShown(dialog.getByRole("button", { name: "Replay this" }));
      expect(await receiver.count("oncehook_failures")).toBe(43);
      await dialog.getByRole("button", { name: "Replay all 41" }).click();
      await expectShown(resultOf(page).getByText(/^41 of 41 replayed, none failed again/));
      expect(await resultOf(page).getAttribute("data-tone")).toBe("success");
      await expectShown(panelOf(page).getByText(/^Resolved at /));
      await until(async () => (await page.locator(".problem-row").count()) === 1, PATIENCE_MS);
      expect(await receiver.count("oncehook_failures")).toBe(2);
      // A new failure of the cause opens it again.
      broken.add("paid");
      await receiver.send(event("paid", {}, { event_id: "paid_again" }));
      await page.reload();
      await expectShown(rowOf(page, "Reopened").getByText("no row"));
      expect(problems).toEqual([]);
    },
    { bulkPollMs: 50 },
  );
});

it("a replay in which events failed again is red, and links to exactly those", { timeout: LIMIT_MS }, () => {
  return withFailures(
    { paid: [3, "no row"] },
    async ({ page, problems, broken }) => {
      broken.delete("paid");
      broken.add("paid_1");
      await rowOf(page, "no row").locator(".cell-what").click();
      await panelOf(page).getByRole("button", { name: "Replay all 3" }).click();
      await page.getByRole("button", { name: "Start the replay" }).click();
      await expectShown(resultOf(page).getByText(/^3 of 3 replayed, 1 failed again/));
      expect(await resultOf(page).getAttribute("data-tone")).toBe("failed");
      await resultOf(page).getByRole("link", { name: "View the 1 that failed again" }).click();
      const failed = page.getByRole("list", { name: "Events that failed again" });
      await expectShown(failed.getByRole("link", { name: "paid_1" }));
      expect(await failed.getByRole("listitem").count()).toBe(1);
      const state = page.locator(".replay-row .cell-state .outcome");
      expect(await state.textContent()).toBe("1 failed again");
      expect(await state.getAttribute("data-tone")).toBe("failed");
      expect(problems).toEqual([]);
    },
    { bulkPollMs: 50 },
  );
});

it("the first button of a row never replays, and no row has a blue one", { timeout: LIMIT_MS }, () => {
  return withFailures({ paid: [1, "no row"] }, async ({ page }) => {
    const buttons = rowOf(page, "no row").getByRole("button");
    await expectShown(buttons.first());
    expect(await buttons.first().textContent()).toBe("Dry run");
    for (const button of await buttons.all())
      expect([null, "default"]).toContain(await button.getAttribute("data-variant"));
    await buttons.first().click();
    const first = panelOf(page).locator(".panel-actions").getByRole("button").first();
    await expectShown(first);
    expect(await first.textContent()).toBe("Dry run");
  });
});

it("a problem shows the frames of the user's code before all others", { timeout: LIMIT_MS }, () => {
  return withFailures({ paid: [1, "no row"] }, async ({ page }) => {
    await rowOf(page, "no row").locator(".cell-what").click();
    const stack = panelOf(page).getByRole("group", { name: "The error with its stack" });
    await expectShown(stack);
    // Its first line is there before the rest of it.
    const second = async () => (await stack.textContent())?.split("\n")[1] ?? "";
    await expect.poll(second, { timeout: PATIENCE_MS }).toContain("breaking.ts");
  });
});

it("94 failed deliveries are one problem without a stack, delivered again with two clicks", {
  timeout: LIMIT_MS,
}, () => {
  const env = {
    ...OPEN,
    NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
    NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NOTIFY_ATTEMPTS: "1",
  };
  return withDashboard(
    async ({ page, receiver }) => {
      for (let at = 0; at < 94; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      const dead = () => receiver.count("oncehook_deliveries", "state = 'dead'");
      await until(async () => (await dead()) === 94, PATIENCE_MS);
      await page.goto("/problems");
      await signIn(page);
      await expectShown(page.locator(".problem-row"));
      expect(await page.locator(".problem-row").count()).toBe(1);
      expect(await page.locator(".problem-row .cell-count").textContent()).toBe("94");
      expect(await page.locator(".problem-row").textContent()).not.toMatch(/\bat .*\.[jt]s:\d/);
      expect(await page.locator(".problem-row .cell-source").textContent()).toBe("channel webhook");
      await page.locator(".problem-row .cell-what").click();
      const check = panelOf(page).getByRole("link", { name: "Check channel" });
      expect(await check.getAttribute("href")).toBe("/settings?find=webhook");
      await panelOf(page).getByRole("button", { name: "Deliver all 94 again" }).click();
      await expectShown(panelOf(page).getByText("94 deliveries are due now."));
      expect(await receiver.count("oncehook_audit", "action = 'problem.deliver' AND outcome = 'done'")).toBe(1);
    },
    { env, outboxPollMs: 20 },
    WIDE,
  );
});

it("a bulk replay is paused, resumed, and cancelled only after a question", { timeout: LIMIT_MS }, () => {
  return withFailures({ paid: [2, "no row"] }, async ({ page, receiver }) => {
    await rowOf(page, "no row").locator(".cell-what").click();
    // Nothing is replayed here before the hour is over.
    await panelOf(page).getByRole("button", { name: "Replay all 2" }).click();
    await page.getByRole("button", { name: "Start the replay" }).click();
    await resultOf(page).getByRole("button", { name: "Pause" }).click();
    await expectShown(resultOf(page).getByText(/^Paused: 0 of 2 replayed/));
    await resultOf(page).getByRole("button", { name: "Resume" }).click();
    await page.getByRole("link", { name: "Bulk replays (1 running)" }).click();
    await page.locator(".replay-row").click();
    const cancelled = () => receiver.count("oncehook_bulk_replays", "state = 'cancelled'");
    const cancel = resultOf(page).getByRole("button", { name: "Cancel" });
    await cancel.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Keep it" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await cancelled()).toBe(0);
    await cancel.click();
    await dialog.getByRole("button", { name: "Cancel it" }).click();
    await cancel.waitFor({ state: "hidden" });
    expect(await cancelled()).toBe(1);
  });
});

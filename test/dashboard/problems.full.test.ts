import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { breaking } from "../support/breaking.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { event } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, sendToken, signIn, withDashboard } from "./dashboard.ts";
import { fail, LIMIT_MS, OPEN, PATIENCE_MS, panelOf, rowOf, rowsOf, WIDE, withFailures } from "./problem-list.ts";

/** A notification has one attempt, at an address that may not be reached. */
const CLOSED_WEBHOOK = {
  NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
  NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
  NOTIFY_ATTEMPTS: "1",
};
const VIEWER = "a-token-for-looking-only";
const addressOf = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search;

it("an empty list teaches what comes there, with the command to copy", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, problems }) => {
    await page.goto("/problems");
    await signIn(page);
    await expectShown(page.getByText("No problem is open."));
    await expectShown(page.getByText("npx oncehook problems", { exact: true }));
    await expectShown(page.getByRole("button", { name: "Copy command" }));
    expect(problems).toEqual([]);
  }),
);

it.each([
  [1_440, 900, 12, 36],
  [390, 844, 8, 60],
])(
  "a screen of %i by %i pixels shows at least %i complete problems, none higher than %i pixels",
  { timeout: LIMIT_MS },
  (width, height, least, highest) => {
    const letters = [..."abcdefghijklmnop"];
    const { handlers } = breaking(Object.fromEntries(letters.map((letter) => [letter, `the ${letter} is closed`])));
    return withDashboard(
      async ({ page, receiver, problems }) => {
        for (const letter of letters) await fail(receiver, letter, 1);
        await page.goto("/problems");
        await signIn(page);
        await until(async () => (await rowsOf(page).count()) === letters.length, PATIENCE_MS);
        const boxes = await Promise.all((await rowsOf(page).all()).map((row) => row.boundingBox()));
        const complete = boxes.filter((box) => box !== null && box.y >= 0 && box.y + box.height <= height);
        expect(complete.length).toBeGreaterThanOrEqual(least);
        expect(Math.max(...boxes.map((box) => box?.height ?? 0))).toBeLessThanOrEqual(highest);
        expect(await rowsOf(page).first().locator(".cell-first").isVisible()).toBe(true);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        const mute = await page.getByRole("button", { name: "Mute: a of platform" }).boundingBox();
        expect(Math.min(mute?.width ?? 0, mute?.height ?? 0)).toBeGreaterThanOrEqual(24);
        expect(problems).toEqual([]);
      },
      { handlers, env: OPEN },
      { viewport: { width, height } },
    );
  },
);

it("four causes with 69 failures are four problems, and each has its count and its times", {
  timeout: LIMIT_MS,
}, () => {
  return withFailures(
    { paid: [41, "UNIQUE constraint"], order: [19, "no sku"], slow: [6, "too slow"], refund: [3, "no row"] },
    async ({ page, receiver }) => {
      await until(async () => (await rowsOf(page).count()) === 4, PATIENCE_MS);
      const numbers = await rowsOf(page).locator(".cell-count").allTextContents();
      expect(numbers).toEqual(["41", "19", "6", "3"]);
      for (const cell of [".cell-first time", ".cell-last time", ".sparkline rect"])
        expect(await rowOf(page, "no sku").locator(cell).count()).toBeGreaterThan(0);
      const { items } = (await receiver.admin("/api/v1/problems")).body as { items: Record<string, string>[] };
      const order = items.find(({ event_type }) => event_type === "order");
      for (const [cell, at] of [
        [".cell-first", order?.first_seen],
        [".cell-last", order?.last_seen],
      ] as const)
        expect(await rowOf(page, "no sku").locator(cell).locator("time").getAttribute("datetime")).toBe(at);
      // The column and its filter have the same word, and the same values.
      await page.getByRole("button", { name: "Outcome", exact: true }).click();
      await page.getByRole("button", { name: "Not delivered" }).click();
      await expectShown(page.getByText("No problem matches these filters."));
      await page.getByRole("button", { name: "Clear" }).click();
      await expectShown(page.getByRole("link", { name: "Problems 4" }).or(page.getByText("Problems4")).first());
    },
  );
});

it("a problem says how many of its events wait for a retry, and when the next one comes", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      await fail(receiver, "paid", 2);
      await page.goto("/problems");
      await signIn(page);
      await rowOf(page, "no row").click();
      await expectShown(panelOf(page).getByText(/^2 wait for a retry, the next one at /));
      await expectShown(panelOf(page).locator(".event-heads").getByText("Next retry"));
      const lines = panelOf(page).getByRole("list", { name: "Events of this problem" }).getByRole("listitem");
      await expect.poll(() => lines.first().textContent()).toMatch(/Attempt 1, retry \d\d \w{3} \d\d:\d\d$/);
    },
    { handlers, env: { ...OPEN, RETRY_MAX: "3" } },
    WIDE,
  );
});

it("j and k go through the problems, Enter opens one, and Escape closes it", { timeout: LIMIT_MS }, () => {
  return withFailures({ paid: [2, "no row"], order: [1, "no sku"] }, async ({ page }) => {
    await rowOf(page, "no sku").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expectShown(panelOf(page).getByRole("heading", { name: /^paid/ }));
    expect(addressOf(page)).toMatch(/^\/problems\/[0-9a-f]{12}$/);
    await page.keyboard.press("j");
    await expectShown(panelOf(page).getByRole("heading", { name: /^order/ }));
    await page.reload();
    await expectShown(panelOf(page).getByRole("heading", { name: /^order/ }));
    await page.keyboard.press("Escape");
    await panelOf(page).waitFor({ state: "hidden" });
    expect(addressOf(page)).toBe("/problems");
  });
});

it("a mute takes two clicks, shows by whom and until when, is audited, and can be ended", { timeout: LIMIT_MS }, () => {
  return withFailures({ paid: [1, "no row"] }, async ({ page, receiver }) => {
    await page.getByRole("button", { name: "Mute: paid of platform" }).click();
    await page.getByRole("button", { name: "For 1 day" }).click();
    await expectShown(rowOf(page, "Muted by Admin token"));
    // Told from an open one also where no column has its state.
    await expectShown(rowOf(page, "Muted by Admin token").locator(".outcome[data-tone=quiet]"));
    expect(addressOf(page)).toBe("/problems");
    await page.getByRole("button", { name: /^Muted/ }).click();
    await rowOf(page, "no row").locator(".cell-what").click();
    await expectShown(panelOf(page).getByText(/^Muted until .* by Admin token: muted on the dashboard$/));
    const { items } = (await receiver.admin("/api/v1/audit?action=problem.mute")).body as { items: object[] };
    expect(items).toHaveLength(1);
    await panelOf(page).getByRole("button", { name: "Unmute" }).click();
    await expectShown(panelOf(page).getByRole("button", { name: "Mute", exact: true }));
    // The audit log names the problem by its cause.
    await page.goto("/settings/audit?action=problem.mute");
    await expectShown(page.getByRole("link", { name: "paid of platform" }));
  });
});

it.each([
  ["order", ["Failed at", "Notification", "Event", ""]],
  ["order.shipped", ["Failed at", "Notification", "Event type", "Event", ""]],
])(
  "undelivered notifications about an order, of the topic %s, have the columns %j",
  { timeout: LIMIT_MS },
  (topic, heads) => {
    const order = defineHandler({
      type: "order",
      data: z.object({}),
      async handle({ event, notify }) {
        await notify(topic, { event: event.event_id });
        return {};
      },
    });
    return withDashboard(
      async ({ page, receiver, problems }) => {
        await receiver.send(event("order", {}));
        await page.goto("/problems");
        await signIn(page);
        await rowOf(page, "Notifications").locator(".cell-what").click();
        await expectShown(panelOf(page).getByRole("listitem").getByText(topic, { exact: true }).first());
        expect(await panelOf(page).locator(".event-heads > *").allTextContents()).toEqual(heads);
        expect(problems).toEqual([]);
      },
      { handlers: [order], env: { ...OPEN, ...CLOSED_WEBHOOK }, outboxPollMs: 20 },
      WIDE,
    );
  },
);

it("the failures are a CSV file two clicks from the overview", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      await fail(receiver, "paid", 2);
      await page.goto("/");
      await signIn(page);
      await page.getByRole("link", { name: /^Problems/ }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "CSV", exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^failures-.*\.csv$/);
      const csv = readFileSync(await download.path(), "utf8");
      expect(csv.split("\n", 1)[0]).toContain("event_id");
      expect([...new Set(csv.match(/\bpaid_\d\b/g))].toSorted()).toEqual(["paid_0", "paid_1"]);
    },
    { handlers, env: OPEN },
  );
});

it("a viewer sees every problem with its events, and no button that changes something", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      await fail(receiver, "paid", 2);
      await page.goto("/problems");
      await sendToken(page, VIEWER);
      await rowOf(page, "no row").click();
      await expectShown(panelOf(page).getByRole("link", { name: "paid_1" }));
      for (const name of [/Dry run/, /Replay/, /^Mute(:|$)/, /Discard/, /Deliver/])
        expect(await page.getByRole("button", { name }).count()).toBe(0);
    },
    { handlers, env: { ...OPEN, ADMIN_VIEWER_TOKEN: VIEWER } },
    WIDE,
  );
});

it("addresses of earlier lists lead to the problems, with their filters", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/failures");
    await signIn(page);
    for (const [from, to] of [
      ["/failures", "/problems?kind=failure"],
      [
        "/failures?state=exhausted&event_type=a%26b&source=stripe&code=handler_failed",
        "/problems?source=stripe&event_type=a%26b&code=handler_failed&failure_state=exhausted&kind=failure",
      ],
      ["/failures?state=accepted&source=shop", "/activity?source=shop&outcome=accepted"],
      ["/failures?bulk_replay=7", "/problems/replays/7"],
      ["/bulk-replays", "/problems/replays"],
      ["/notifications?state=dead", "/problems?kind=delivery"],
    ] as const) {
      await page.goto(from);
      await expect.poll(() => addressOf(page), { timeout: PATIENCE_MS }).toBe(to);
    }
  }),
);

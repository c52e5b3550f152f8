import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, signHmac } from "../../src/index.ts";
import { event, payment } from "../support/receiver.ts";
import { SECRET } from "../support/secrets.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

const panelOf = (page: Page) => page.getByRole("complementary", { name: "Callback" });
const rowOf = (page: Page, text: string) => page.locator(".activity-row").filter({ hasText: text });
const openOf = (page: Page) => new URL(page.url()).searchParams.get("open");

/** The panel that one click opens after a search from the overview. */
async function searched(page: Page, text: string, id: number) {
  await page.goto("/");
  await signIn(page);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await page.locator(`.activity-row[data-id="${id}"]`).click();
  return panelOf(page);
}

it("a click anywhere in a row opens its panel, and a reload restores it", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(payment({ event_id: "evt_1" }, { order_id: "order-123", token: "a-token-of-somebody" }));
      await page.goto("/activity");
      await signIn(page);
      const panel = panelOf(page);
      for (const cell of await rowOf(page, "evt_1").getByRole("gridcell").all()) {
        await cell.click();
        await expectShown(panel);
        await page.keyboard.press("Escape");
        await panel.waitFor({ state: "hidden" });
      }
      await rowOf(page, "evt_1").locator(".cell-duration").click();
      await expectShown(panel.getByText(/^Handled once, in /));
      // The payload's first line is on the first screen.
      await expect
        .poll(() => panel.locator(".tree .leaf").first().boundingBox(), { timeout: PATIENCE_MS })
        .not.toBeNull();
      expect((await panel.locator(".tree .leaf").first().boundingBox())?.y).toBeLessThan(500);
      expect(openOf(page)).toBe("1");
      // The list ends where the panel begins, so that the panel cuts no word.
      const [list, beside] = [await page.locator(".row-list").boundingBox(), await panel.boundingBox()];
      expect((list?.x ?? 0) + (list?.width ?? 0)).toBe(beside?.x);
      for (const name of ["Copy event id", "Copy as curl", "Copy link", "Copy body", "Raw"]) {
        const icon = await panel.getByRole("button", { name, exact: true }).boundingBox();
        expect(Math.min(icon?.width ?? 0, icon?.height ?? 0)).toBeGreaterThanOrEqual(24);
      }
      await panel.getByRole("button", { name: "Raw", exact: true }).focus();
      await page.keyboard.press("Enter");
      await expectShown(panel.getByRole("group", { name: "Request body" }));
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await panel.getByRole("button", { name: "Copy as curl" }).click();
      const copied = () => page.evaluate("navigator.clipboard.readText()");
      await expect.poll(copied, { timeout: PATIENCE_MS }).toMatch(/order-123[\s\S]*\| npx --no oncehook sign\)/);
      expect(await copied()).not.toContain(SECRET);
      await page.reload();
      await expectShown(panel.getByText('"order-123"'));
      await expectShown(panel.getByText("masked", { exact: true }));
      await panel.getByText('"order-123"').click();
      await expectShown(panel.getByText("data.order_id"));
      await page.getByRole("button", { name: "Close" }).click();
      await panel.waitFor({ state: "hidden" });
      expect(problems).toEqual([]);
    },
    { env: OPEN },
    { viewport: { width: 1_440, height: 900 } },
  ),
);

it("j and k go through the list, Enter opens a callback, and Escape closes it", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      for (const id of ["evt_1", "evt_2", "evt_3"]) await receiver.send(payment({ event_id: id }));
      await page.goto("/activity");
      await signIn(page);
      await rowOf(page, "evt_3").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await expect.poll(() => openOf(page), { timeout: PATIENCE_MS }).toBe("2");
      await page.keyboard.press("j");
      await expect.poll(() => openOf(page), { timeout: PATIENCE_MS }).toBe("1");
      await page.keyboard.press("k");
      await expect.poll(() => openOf(page), { timeout: PATIENCE_MS }).toBe("2");
      await page.keyboard.press("Escape");
      await expect.poll(() => openOf(page), { timeout: PATIENCE_MS }).toBe(null);
      expect(await page.evaluate("document.activeElement.dataset.id")).toBe("2");
    },
    { env: OPEN },
  ),
);

it(
  "two clicks from the overview, the timeline marks the fields in which a later delivery differs",
  { timeout: LIMIT_MS },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        await receiver.send(payment({ event_id: "evt_1" }, { amount: 19.9 }));
        await receiver.send(payment({ event_id: "evt_1" }, { amount: 20.9 }));
        const panel = await searched(page, "evt_1", 2);
        await expectShown(panel.getByText(/^A duplicate: the event was handled at /));
        await panel.getByRole("tab", { name: "Timeline" }).click();
        const changes = panel.getByRole("list", { name: "Changed since the first delivery" });
        const amount = changes.getByRole("listitem").filter({ hasText: "data.amount" });
        await expectShown(amount);
        expect(await amount.locator("del").textContent()).toBe("19.9");
        expect(await amount.locator("ins").textContent()).toBe("20.9");
      },
      { env: OPEN },
    ),
);

it("a failed event is run dry first, and replayed from the result of the dry run", { timeout: LIMIT_MS }, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt/a b" }));
      await page.goto("/activity");
      await signIn(page);
      await rowOf(page, "evt/a b").click();
      const panel = panelOf(page);
      await expectShown(panel.getByText("Failed once. No automatic retry is left: replay or discard it."));
      state.down = false;
      await panel.getByRole("button", { name: "Dry run: evt/a b" }).click();
      const dialog = page.getByRole("dialog");
      await expectShown(dialog.getByText("insert into shelves"));
      expect(await receiver.count("shelves")).toBe(0);
      await dialog.getByRole("button", { name: "Replay this" }).click();
      await expectShown(panel.getByText("evt/a b was run now: handled."));
      await expectShown(page.getByRole("dialog", { name: "Replay evt/a b" }));
      await page.keyboard.press("Escape");
      await panel.getByRole("tab", { name: "Timeline" }).click();
      await expectShown(panel.getByText("Replay 1"));
      await expectShown(panel.getByText("Record completed"));
      expect(await receiver.count("shelves")).toBe(1);
      expect(problems).toEqual([]);
    },
    { handlers: [handler], env: OPEN },
  );
});

it("the SQL tab shows the statements of a dry run in place", { timeout: LIMIT_MS }, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_1" }));
      state.down = false;
      await page.goto("/activity?open=platform/evt_1");
      await signIn(page);
      const panel = panelOf(page);
      await panel.getByRole("tab", { name: "SQL" }).click();
      await panel.getByRole("button", { name: "Dry run", exact: true }).click();
      await expectShown(panel.getByText("insert into shelves"));
      expect(await receiver.count("shelves")).toBe(0);
    },
    { handlers: [handler], env: OPEN },
  );
});

it("two clicks from the overview, the SQL tab shows the statements and values that were recorded", {
  timeout: LIMIT_MS,
}, () => {
  const { state, handler } = unreliable();
  state.down = false;
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_1" }));
      const panel = await searched(page, "evt_1", 1);
      await panel.getByRole("tab", { name: "SQL" }).click();
      await expectShown(panel.getByText("insert into shelves"));
      await expectShown(panel.getByText(/^Recorded/));
      const text = await panel.getByRole("tabpanel").textContent();
      expect(text).toContain("1 row");
      expect(text).toContain("evt_1");
    },
    { handlers: [handler], env: { ...OPEN, RECORD_STATEMENTS: "true" } },
  );
});

it("the panel states why a signature failed, and never shows one", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      const refused = payment();
      await receiver.send(refused, { headers: { "x-signature": `sha256=${"0".repeat(64)}` } });
      await page.goto("/activity?open=1");
      await signIn(page);
      await expectShown(panelOf(page).getByText(/Send the 64 digits alone/));
      await panelOf(page).getByRole("tab", { name: "Request" }).click();
      await expectShown(panelOf(page).getByText("masked", { exact: true }));
      const right = signHmac(SECRET, Buffer.from(JSON.stringify(refused)));
      expect(await page.content()).not.toContain(right);
    },
    { env: OPEN },
  ),
);

it("the headers stay readable beside one with a long name", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment(), { headers: { [`x-${"n".repeat(2_000)}`]: "1", "user-agent": "me" } });
      await page.goto("/activity?open=1");
      await signIn(page);
      await page.getByRole("tab", { name: "Request" }).click();
      const value = page.locator(".fact").filter({ hasText: "user-agent" }).locator("dd");
      const width = async () => (await value.boundingBox())?.width ?? 0;
      await expect.poll(width, { timeout: PATIENCE_MS }).toBeGreaterThan(400);
      await page.setViewportSize({ width: 360, height: 740 });
      await expect.poll(width, { timeout: PATIENCE_MS }).toBeGreaterThan(200);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    },
    {},
    { viewport: { width: 1_200, height: 800 } },
  ),
);

it("the callback of several handlers is no unverified one, and leads to the entry of each", {
  timeout: LIMIT_MS,
}, () => {
  const handlers = ["first", "second"].map((name) =>
    defineHandler({ type: "paired", name, data: z.looseObject({}), handle: () => ({}) }),
  );
  return withDashboard(
    async ({ page, receiver, problems }) => {
      expect((await receiver.send(event("paired", {}, { event_id: "evt_pair" }))).status).toBe(200);
      await page.goto("/activity");
      await signIn(page);
      await until(async () => (await rowOf(page, "evt_pair").count()) === 3, PATIENCE_MS);
      expect(await page.getByText("unverified").count()).toBe(0);
      await rowOf(page, "evt_pair").filter({ hasNotText: "#" }).click();
      await expectShown(panelOf(page).getByText("evt_pair").first());
      expect(await page.getByText("unverified").count()).toBe(0);
      await panelOf(page).getByRole("tab", { name: "Timeline" }).click();
      await panelOf(page).getByRole("link", { name: "View them in Activity" }).click();
      await until(async () => /[?&]q=/.test(page.url()), PATIENCE_MS);
      await until(async () => (await rowOf(page, "platform#second").count()) === 1, PATIENCE_MS);
      expect(await rowOf(page, "platform#first").count()).toBe(1);
      expect(problems).toEqual([]);
    },
    { handlers, env: OPEN },
  );
});

it("the page offers no command for an OAuth redirect, and states the reason", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver }) => {
    await fetch(`${receiver.publicOrigin}/api/platform/oauth-callback?code=a&state=b`);
    await page.goto("/activity?open=1");
    await signIn(page);
    await page.getByRole("tab", { name: "Request" }).click();
    await page.getByText("the code of an OAuth redirect works once").waitFor();
    await page.getByText("Not authentic: it was refused").waitFor();
    expect(await page.getByRole("button", { name: "Copy as curl" }).count()).toBe(0);
  }),
);

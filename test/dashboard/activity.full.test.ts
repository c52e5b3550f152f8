import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { withFilledReceiver } from "../support/filled-receiver.ts";
import { payment, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard, withPage } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };
const WIDE = { viewport: { width: 1_440, height: 900 } };

async function sendMany(receiver: TestReceiver, name: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await receiver.send(payment({ event_id: `${name}_${at}` }));
}

async function openActivity(page: Page, search = ""): Promise<void> {
  await page.goto(`/activity${search}`);
  await signIn(page);
  await page.getByText("Live", { exact: true }).waitFor();
}

const rowsOf = (page: Page) => page.locator(".activity-row");

/** How many rows are wholly on the screen. */
function completeRows(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const list = document.querySelector(".activity-list").getBoundingClientRect();
    const rows = [...document.querySelectorAll(".activity-row")].map((row) => row.getBoundingClientRect());
    return rows.filter(({ top, bottom }) => top >= list.top && bottom <= Math.min(list.bottom, innerHeight)).length;
  })()`);
}

it("an empty list has the command that sends a callback", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/activity");
    await signIn(page);
    await expectShown(page.getByText("No callback has arrived yet."));
    await expectShown(page.getByText("npx oncehook send --source platform"));
  }),
);

it.each([
  [1_440, 900, 20, 36],
  [390, 844, 8, 60],
])(
  "a screen of %i by %i pixels shows at least %i complete rows, none higher than %i",
  {
    timeout: LIMIT_MS,
  },
  (width, height, rows, highest) =>
    withDashboard(
      async ({ page, receiver, problems }) => {
        await sendMany(receiver, "evt", 40);
        await receiver.send(payment({ event_id: `long_${"e".repeat(200)}` }, { amount: "ten ".repeat(100) }));
        await openActivity(page);
        await rowsOf(page).filter({ hasText: "long_" }).waitFor();
        const heights = await rowsOf(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
        expect(Math.max(...heights)).toBeLessThanOrEqual(highest);
        await expect.poll(() => completeRows(page), { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(rows);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        expect(problems).toEqual([]);
      },
      { env: OPEN },
      { viewport: { width, height } },
    ),
);

it("a row on a telephone has its source and its reason", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment({}, { amount: "ten" }));
      await openActivity(page);
      for (const cell of [".cell-source", ".cell-reason"])
        expect((await rowsOf(page).first().locator(cell).boundingBox())?.width).toBeGreaterThan(20);
      const counts = page.getByRole("group", { name: "Outcomes" });
      await expectShown(counts.getByRole("button", { name: "Failed 0" }));
      expect(await counts.evaluate((group) => group.scrollWidth <= group.clientWidth)).toBe(true);
      // The last filter, when it is set, is seen without scrolling, and so is its end.
      await page.goto("/activity?q=evt_1");
      for (const name of ["Value evt_1", "Clear"]) {
        const button = page.locator(".filter-bar").getByRole("button", { name, exact: true });
        await expectShown(button);
        const { x = 0, width = 0 } = (await button.boundingBox()) ?? {};
        expect([name, x + width < 350]).toEqual([name, true]);
      }
    },
    { env: OPEN },
    { viewport: { width: 390, height: 844 } },
  ),
);

it("the list reads on to the oldest of 1,600 callbacks, and draws only the rows in view", { timeout: LIMIT_MS }, () =>
  withFilledReceiver(
    "sqlite",
    1_600,
    ({ adminOrigin }) =>
      withPage(
        adminOrigin,
        async ({ page, problems }) => {
          await openActivity(page);
          await rowsOf(page).first().waitFor();
          const oldest = page.locator(".activity-row[data-index='1599']");
          await until(async () => {
            await page.evaluate("document.querySelector('.activity-list').scrollBy(0, 100000)");
            return oldest.isVisible();
          }, PATIENCE_MS);
          await expectShown(page.getByText("End of results"));
          expect(await rowsOf(page).count()).toBeLessThan(80);
          expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(5_000);
          expect(problems).toEqual([]);
        },
        WIDE,
      ),
    { env: OPEN },
  ),
);

it("callbacks that came while another page was open are in the list", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await sendMany(receiver, "before", 1);
      await openActivity(page);
      await page.getByRole("link", { name: "Settings" }).click();
      await expectShown(page.getByRole("heading", { name: "Configuration" }));
      await receiver.send(payment({ event_id: "between" }));
      await page.goBack();
      await expectShown(rowsOf(page).filter({ hasText: "between" }));
    },
    { env: OPEN },
  ),
);

/** Headless, a page is always visible; this is what a browser does when its user goes to another tab, and back. */
async function turn(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));`,
  );
}

it(
  "a hidden list holds no connection, and counts the new callbacks when it is visible again",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        const open = new Set<object>();
        page.on("request", (request) => request.url().includes("/api/v1/live") && open.add(request));
        for (const end of ["requestfailed", "requestfinished"] as const)
          page.on(end as "requestfailed", (request) => open.delete(request));
        await sendMany(receiver, "before", 1);
        await openActivity(page);
        expect(open.size).toBe(1);
        await turn(page, "hidden");
        await until(() => open.size === 0, PATIENCE_MS);
        await receiver.send(payment({ event_id: "unseen" }));
        await turn(page, "visible");
        await page.getByRole("button", { name: "1 new" }).click();
        await expectShown(rowsOf(page).filter({ hasText: "unseen" }));
      },
      { env: OPEN },
    ),
);

it("a filter is completed from what is configured, and stands in the address", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      for (const id of ["0012", "1e5", "evt_c"]) await receiver.send(payment({ event_id: id }));
      await openActivity(page, "?event_id=1e5&nobody=knows-this");
      await expectShown(rowsOf(page).filter({ hasText: "1e5" }));
      expect(await rowsOf(page).count()).toBe(1);
      await page.getByRole("button", { name: "Event id 1e5" }).click();
      await page.getByRole("textbox", { name: "Event id" }).fill("0012");
      await page.keyboard.press("Enter");
      await expectShown(rowsOf(page).filter({ hasText: "0012" }));
      await page.getByRole("button", { name: "Source", exact: true }).click();
      await page.getByRole("textbox", { name: "Source" }).fill("plat");
      await page.getByRole("button", { name: "platform", exact: true }).click();
      await page.waitForURL(/source=platform/);
      expect(new URL(page.url()).searchParams.get("event_id")).toBe("0012");
      await page.getByRole("button", { name: "Clear" }).click();
      await expect.poll(() => rowsOf(page).count(), { timeout: PATIENCE_MS }).toBe(3);
    },
    { env: OPEN },
  ),
);

it(
  "the counts of outcomes filter the list, and a refused callback shows the id that it claims as unverified",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        await receiver.admin("/api/v1/sources/platform/check", { method: "POST" });
        await receiver.send(payment({ event_id: "evt_good" }));
        await receiver.send(payment({ event_id: "evt_forged" }), { secret: "another secret of the same length" });
        await receiver.send(payment({}, { amount: "ten" }));
        await openActivity(page);
        await page.getByRole("button", { name: "Refused 2" }).click();
        await expect.poll(() => rowsOf(page).count(), { timeout: PATIENCE_MS }).toBe(2);
        await expectShown(rowsOf(page).filter({ hasText: /unverified evt_forged/ }));
        await expectShown(rowsOf(page).getByText(/data\.amount: /));
        const forged = rowsOf(page).filter({ hasText: "evt_forged" });
        expect(await forged.locator(".cell-type").textContent()).toBe("payment_notify");
        const reason = forged.locator(".cell-reason");
        expect(await reason.textContent()).toBe("401 Unknown secret, or body changed");
        expect(await reason.getAttribute("title")).toMatch(
          /^The callback was signed with a secret .* changed since\.$/,
        );
        expect(await forged.getByRole("link").count()).toBe(0);
        await forged.click();
        const head = page.getByRole("complementary", { name: "Callback" }).locator(".panel-id");
        await expect.poll(() => head.textContent()).toBe("evt_forgedunverified");
        expect(await page.locator("[href*=evt_forged]").count()).toBe(0);
        expect(new URL(page.url()).searchParams.get("outcome")).toBe("refused");
        // One of the outcomes of a group: its segment is pressed, and all counts stay, with their time.
        await page.goto("/activity?outcome=success");
        const counts = page.getByRole("group", { name: "Outcomes" });
        await expectShown(counts.getByRole("button", { name: "Handled 1", pressed: true }));
        // The sum of the other numbers; the endpoint check is counted in none.
        await expectShown(counts.getByRole("button", { name: "All 3", exact: true }));
        await expectShown(page.getByRole("button", { name: "Outcome Handled", exact: true }));
        await expectShown(counts.getByRole("button", { name: "Refused 2", pressed: false }));
        await expectShown(counts.getByText("Last 30 days"));
        // A source has counts too. Of values there are none: the results so far are counted.
        await page.goto("/activity?source=platform");
        await expectShown(counts.getByRole("button", { name: "All 3", exact: true, pressed: true }));
        await expectShown(counts.getByRole("button", { name: "Refused 2", pressed: false }));
        await expectShown(counts.getByText("Last 30 days"));
        await page.goto("/activity?q=evt_good&since=24h");
        await expectShown(counts.getByText("1 result, Last 24 hours"));
        await page.goto("/activity?outcome=duplicate");
        await expectShown(counts.getByRole("button", { name: "Duplicates 0", pressed: true }));
        await expectShown(counts.getByRole("button", { name: "Refused 2", pressed: false }));
      },
      { env: OPEN },
    ),
);

it("addresses of earlier versions lead to where their content is now", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment({ event_id: "evt/a b" }));
      await page.goto("/callbacks?status=2xx");
      await signIn(page);
      for (const [from, to] of [
        ["/callbacks?status=2xx", "/activity?status=2xx"],
        ["/callbacks/1", "/activity?open=1"],
        ["/events/platform/evt%2Fa%20b", "/activity?open=platform%2Fevt%2Fa+b"],
        ["/refused", "/activity?outcome=refused"],
      ] as const) {
        await page.goto(from);
        const address = () => new URL(page.url()).pathname + new URL(page.url()).search;
        await expect.poll(address, { timeout: PATIENCE_MS }).toBe(to);
      }
    },
    { env: OPEN },
  ),
);

import { expect, it } from "vitest";
import { event, payment } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;
const PATIENCE_MS = 60_000;

it.each(["/", "Control+k"])("the key %s focuses the search box, which finds an order", { timeout: LIMIT_MS }, (key) =>
  withDashboard(async ({ page, receiver, problems }) => {
    await receiver.send(payment({ event_id: "evt_1" }, { order_id: "order-123" }));
    await receiver.send(payment({ event_id: "evt_2" }, { order_id: "order-7" }));
    await page.goto("/sources");
    await signIn(page);
    await expectShown(page.getByRole("heading", { name: "Sources" }));
    await page.keyboard.press(key);
    await page.keyboard.type("source:platform order-123");
    await page.keyboard.press("Enter");
    await expectShown(page.getByRole("row", { name: /evt_1/ }));
    expect(await page.getByRole("row", { name: /evt_2/ }).count()).toBe(0);
    expect(problems).toEqual([]);
  }),
);

it("the time zone stands in the address, holds on the next page, and goes again", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment());
      await page.goto("/activity");
      await signIn(page);
      const shown = () => page.locator(".activity-row time").first().textContent();
      const hour = async () => Number(/(\d\d):\d\d:\d\d/.exec((await shown()) ?? "")?.[1]);
      const local = await hour();
      await page.getByRole("button", { name: "UTC", exact: true }).click();
      await expect.poll(hour, { timeout: PATIENCE_MS }).toBe((local + 19) % 24);
      await page.getByRole("link", { name: "Settings" }).click();
      await expectShown(page.getByRole("heading", { name: "Configuration" }));
      expect(new URL(page.url()).search).toBe("?tz=utc");
      await page.getByRole("button", { name: "Local", exact: true }).click();
      await expect.poll(() => new URL(page.url()).search, { timeout: PATIENCE_MS }).toBe("");
    },
    {},
    { timezoneId: "Asia/Yekaterinburg" },
  ),
);

it("on a telephone the time zone is chosen in the menu of the session", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto("/settings");
      await signIn(page);
      await page.getByRole("button", { name: "Admin token, operator" }).click();
      await page.getByRole("menuitem", { name: "UTC" }).click();
      await expect.poll(() => new URL(page.url()).search, { timeout: PATIENCE_MS }).toBe("?tz=utc");
    },
    {},
    { viewport: { width: 390, height: 844 } },
  ),
);

it("on a telephone the environment and the tab of the page are in sight", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto("/settings/audit");
      await signIn(page);
      await expectShown(page.locator(".top-bar").getByText("test", { exact: true }));
      const tab = page.getByRole("link", { name: "Audit log" });
      await expect
        .poll(async () => {
          const { x, width } = (await tab.boundingBox()) ?? { x: 390, width: 0 };
          return x >= 0 && x + width <= 390;
        })
        .toBe(true);
    },
    {},
    { viewport: { width: 390, height: 844 } },
  ),
);

it("the place of the problems shows how many there are", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}));
      await page.goto("/");
      await signIn(page);
      await expect
        .poll(() => page.getByRole("link", { name: /^Problems/ }).textContent(), { timeout: PATIENCE_MS })
        .toBe("Problems1");
    },
    { handlers: [unreliable().handler], env: { RETRY_MAX: "0" } },
  ),
);

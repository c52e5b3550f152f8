import { expect, it } from "vitest";
import { execute } from "../support/execute.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { event, payment, type TestReceiver } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 120_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };
const UNREACHABLE = {
  ...OPEN,
  NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
  NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
  NOTIFY_ATTEMPTS: "1",
};

/** A notification that is dead on its channel, and on another one that is not configured any more. */
async function withTwoDead(receiver: TestReceiver): Promise<void> {
  await receiver.send(payment({ event_id: "evt_told" }));
  await until(async () => (await receiver.count("oncehook_deliveries", "state = 'dead'")) === 1);
  await execute(
    receiver.target,
    `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
      SELECT id, 'email:gone@example.com', 'dead', 1 FROM oncehook_notifications`,
  );
}

it(
  "the page names the channels that got no redelivery, and reports that others are due",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(
      async ({ page, receiver }) => {
        await withTwoDead(receiver);
        await page.goto("/activity?open=platform/evt_told");
        await signIn(page);
        const result = page.getByRole("region", { name: "What happened" });
        await expectShown(result.getByText(/^Handled once, /));
        await expectShown(
          result.getByText(/^Notification not delivered to webhook: 127\.0\.0\.1 is not a public address/),
        );
        expect(await violations(page)).toEqual([]);
        await result.getByRole("button", { name: "View deliveries" }).first().click();
        await page.getByRole("button", { name: /^Deliver again: .* of evt_told$/ }).click();
        const status = page.getByRole("status").filter({ hasText: "1 delivery is due now." });
        await expectShown(status.getByText("still failed: email:gone@example.com"));
      },
      { env: UNREACHABLE, outboxPollMs: 20 },
    ),
);

it("the outcome of a retry stays visible until it is closed, and the focus stays on the page", {
  timeout: LIMIT_MS,
}, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_a" }));
      state.down = false;
      await page.goto("/activity?open=platform/evt_a");
      await signIn(page);
      await page.getByRole("button", { name: "Replay: evt_a" }).click();
      await page.locator("[aria-label='Replay: evt_a']").waitFor({ state: "detached" });
      const dialog = page.getByRole("dialog");
      await expectShown(dialog.getByText('"shelf": 7'));
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await until(
        async () => (await page.evaluate("document.activeElement.textContent")) === "evt_a was run now: handled.",
      );
    },
    { handlers: [handler], env: OPEN },
  );
});

it("the focus returns to the button of a dry run when its result is closed", { timeout: LIMIT_MS }, () => {
  const { handler } = unreliable();
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_a" }));
      await page.goto("/activity?open=platform/evt_a");
      await signIn(page);
      await page.getByRole("button", { name: "Dry run: evt_a" }).click();
      const dialog = page.getByRole("dialog");
      await expectShown(dialog.getByText("nothing has changed"));
      await dialog.getByRole("button", { name: "Close" }).click();
      await until(
        async () => (await page.evaluate("document.activeElement.getAttribute('aria-label')")) === "Dry run: evt_a",
      );
    },
    { handlers: [handler], env: OPEN },
  );
});

it("the menu exposes whether it is open", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page }) => {
      await page.goto("/activity");
      await signIn(page);
      await page.getByRole("button", { name: "Navigation", expanded: false }).click();
      await expectShown(page.getByRole("button", { name: "Navigation", expanded: true }));
    },
    {},
    { viewport: { width: 360, height: 740 } },
  ),
);

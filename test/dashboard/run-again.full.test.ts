import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { event } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 180_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

/** A handler that writes by the event's id, so that a second run corrects the first. */
function taxing(source?: string) {
  const state = { tax: 1, broken: "" };
  const handler = defineHandler({
    ...(source !== undefined && { source }),
    type: "order",
    data: z.looseObject({}),
    migrations: [
      {
        name: "taxes",
        up: async ({ query }) => {
          await query.schema
            .createTable("taxes")
            .addColumn("id", "text", (column) => column.primaryKey())
            .addColumn("tax", "integer")
            .execute();
        },
      },
    ],
    async handle({ event: { event_id }, tx }) {
      if (state.broken === event_id) throw new Error("still broken");
      await tx.execute("insert into taxes values (?, ?) on conflict (id) do update set tax = excluded.tax", [
        event_id,
        state.tax,
      ]);
      return { tax: state.tax };
    },
  });
  return { state, handler };
}

const panelOf = (page: Page) => page.getByRole("complementary", { name: "Callback" });

it("the SQL tab of a handled event makes its dry run, and then runs it again with a reason", {
  timeout: LIMIT_MS,
}, () => {
  const { state, handler } = taxing();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(event("order", {}, { event_id: "evt_1" }));
      state.tax = 2;
      await page.goto("/activity?open=platform/evt_1");
      await signIn(page);
      const panel = panelOf(page);
      await panel.getByRole("tab", { name: "SQL" }).click();
      await panel.getByRole("button", { name: "Dry run", exact: true }).click();
      await expectShown(panel.getByText("insert into taxes"));
      expect(await receiver.count("taxes", "tax = 1")).toBe(1);
      const again = panel.getByRole("button", { name: "Run again", exact: true });
      expect(await violations(page)).toEqual([]);
      expect(await again.isDisabled()).toBe(true);
      await panel.getByLabel("Reason").fill("the tax was wrong");
      await again.click();
      await expectShown(panel.getByText(/It was run again/));
      await expectShown(panel.getByText(/^Handled, and run again once more by a replay, the last time at /));
      expect(await receiver.count("taxes", "tax = 2")).toBe(1);
      expect(await receiver.count("oncehook_event_replays", "reason = 'the tax was wrong'")).toBe(1);
      await panel.getByRole("tab", { name: "Response" }).click();
      await expectShown(panel.getByText("by Admin token: the tax was wrong. The result before that:"));
      // Beside the verdict it begins with the dry run, too.
      await panel.getByRole("button", { name: "Run again…" }).click();
      const dialog = page.getByRole("dialog", { name: "Dry run evt_1" });
      await expectShown(dialog.getByText("Would be handled"));
      await expectShown(dialog.getByRole("button", { name: "Run again", exact: true }));
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
    { handlers: [handler], env: OPEN },
  );
});

it("yesterday's orders run again through the mended handler in at most six clicks, and failed ones are listed", {
  timeout: LIMIT_MS,
}, () => {
  const { state, handler } = taxing("shop");
  return withDashboard(
    async ({ page, receiver, problems }) => {
      for (let index = 1; index <= 12; index += 1) await deliverToShop(receiver, { id: `o${index}` });
      Object.assign(state, { tax: 2, broken: "o7" });
      await page.goto("/");
      await signIn(page);
      let clicks = 0;
      const click = async (target: ReturnType<Page["locator"]>) => {
        clicks += 1;
        await target.click();
      };
      await page.keyboard.press("/");
      await page.keyboard.type("source:shop since:1d");
      await page.keyboard.press("Enter");
      await click(page.getByRole("button", { name: "Run all handled again…" }));
      const dialog = page.getByRole("dialog");
      await expectShown(dialog.getByText("insert into taxes"));
      // The reader sees what the filters select.
      await expectShown(dialog.getByText(/^shop, all types, handled since \d/));
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel("Reason").fill("the tax was wrong");
      await click(dialog.getByRole("button", { name: "Run 12 events again" }));
      await until(async () => (await receiver.count("oncehook_bulk_replays", "state = 'done'")) === 1, 60_000);
      expect(await receiver.count("taxes", "tax = 2")).toBe(11);
      const result = page.getByRole("complementary", { name: "Bulk replay" });
      await expectShown(result.getByText(/^12 of 12 replayed, none skipped, 1 failed/));
      await expectShown(result.getByText("o7"));
      await expectShown(result.getByText("Error: still broken"));
      const outcome = page.getByRole("region", { name: "Bulk replay" });
      expect(await outcome.getAttribute("data-tone")).toBe("failed");
      expect(await page.locator(".replay-row .outcome").getAttribute("data-tone")).toBe("failed");
      const left = result.getByRole("list", { name: "Events that were not run" });
      expect(await left.getByRole("listitem").count()).toBe(1);
      expect(clicks).toBeLessThanOrEqual(6);
      expect(problems).toEqual([]);
    },
    { sources: { shop: shop({ answer: "inline" }) }, handlers: [handler], env: OPEN, bulkPollMs: 50 },
  );
});

import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { execute } from "../support/execute.ts";
import type { TestReceiver } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";
import { type Dashboard, expectShown, signIn, withDashboard } from "./dashboard.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 180_000;
const VIEWER = "a-token-for-those-who-may-look";
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0", ADMIN_VIEWER_TOKEN: VIEWER };
const ORDERS = 6;

/** A shop whose orders one handler has handled, and a second one that has had none of them. */
function withHistory(use: (shown: Dashboard & { readonly audited: string[] }) => Promise<void>): Promise<void> {
  const audited: string[] = [];
  const of = { source: "shop", type: "order", data: z.looseObject({}) };
  const handlers = [
    defineHandler({ ...of, handle: () => ({}) }),
    defineHandler({
      ...{ ...of, name: "audit" },
      handle({ event: { event_id } }) {
        if (event_id.endsWith("o3")) throw new Error("no ledger for o3");
        audited.push(event_id);
        return {};
      },
    }),
  ];
  return withDashboard(
    async (shown) => {
      for (let at = 1; at <= ORDERS; at += 1) await deliverToShop(shown.receiver, { id: `o${at}` });
      await forgetAudit(shown.receiver);
      audited.length = 0;
      await use({ ...shown, audited });
    },
    { sources: { shop: shop({ answer: "inline" }) }, handlers, env: OPEN, backfillPollMs: 50, retryPollMs: 50 },
  );
}

/** As if the second handler had been added after the orders came. */
async function forgetAudit({ target }: TestReceiver): Promise<void> {
  await execute(target, "DELETE FROM oncehook_records WHERE source = 'shop#audit'");
  await execute(target, "DELETE FROM oncehook_failures WHERE source = 'shop#audit'");
}

const dialogOf = (page: Page) => page.getByRole("dialog");
const panelOf = (page: Page) => page.getByRole("complementary", { name: "Backfill" });

it("a backfill is run dry over a sample, started, and followed to its counts", { timeout: LIMIT_MS }, () =>
  withHistory(async ({ page, receiver, problems, audited }) => {
    await page.goto("/problems/backfills?handler=shop%23audit");
    await signIn(page);
    const dialog = dialogOf(page);
    await expectShown(dialog.getByLabel("Handler", { exact: true }));
    expect(await dialog.getByLabel("Handler", { exact: true }).inputValue()).toBe("shop#audit");
    expect(await dialog.getByRole("button", { name: /^Start with/ }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Dry run" }).click();
    await expectShown(dialog.getByText("6 events would be accepted; nothing has changed."));
    await expectShown(dialog.getByText("Of the first 6, 5 would succeed and 1 would fail."));
    await expectShown(dialog.getByRole("cell", { name: /no ledger for o3/ }));
    expect(await violations(page)).toEqual([]);
    expect(audited.length).toBeGreaterThanOrEqual(5);
    expect(await receiver.count("oncehook_records", "source = 'shop#audit'")).toBe(0);
    await dialog.getByRole("button", { name: "Start with 6 events" }).click();
    await expectShown(panelOf(page).getByText(/^Running: 6 accepted/));
    // The handler has its name, with its types as soon as one is accepted.
    await expectShown(page.locator(".backfill-row", { hasText: /audit · \S+ of shop/ }));
    await until(async () => (await receiver.count("oncehook_records", "source = 'shop#audit'")) === 5, 60_000);
    expect(await receiver.count("oncehook_failures", "source = 'shop#audit'")).toBe(1);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
  }),
);

it(
  "a second backfill of the same handler is refused in the dialog, which names the first one",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withHistory(async ({ page, receiver, problems }) => {
      await page.goto("/problems/backfills?handler=shop%23audit");
      await signIn(page);
      const dialog = dialogOf(page);
      const start = async () => {
        await dialog.getByRole("button", { name: "Dry run" }).click();
        await dialog.getByRole("button", { name: /^Start with/ }).click();
      };
      await dialog.getByLabel("Max per second").fill("1");
      await start();
      await panelOf(page).getByRole("button", { name: "Pause" }).click();
      await expectShown(panelOf(page).getByText(/^Paused: \d accepted/));
      await page.getByRole("button", { name: "Start a backfill" }).click();
      await dialog.getByLabel("Handler", { exact: true }).selectOption("shop#audit");
      await start();
      await expectShown(dialog.getByText(/backfill 1 of shop#audit is paused: resume it or cancel it/));
      expect(await receiver.count("oncehook_backfills")).toBe(1);
      await dialog.getByRole("button", { name: "Close" }).click();
      await panelOf(page).getByRole("button", { name: "Resume" }).click();
      await expectShown(panelOf(page).getByText(/^Running: /));
      await panelOf(page).getByRole("button", { name: "Cancel" }).click();
      await dialog.getByRole("button", { name: "Cancel it" }).click();
      await expectShown(panelOf(page).getByText(/^Cancelled: /));
      expect(problems).toEqual([]);
    }),
);

it("a viewer sees the backfills, and no button that starts or ends one", { timeout: LIMIT_MS }, () =>
  withHistory(async ({ page, receiver }) => {
    const body = JSON.stringify({ handler: "shop#audit", since: "2020-01-01T00:00:00Z" });
    const headers = { "content-type": "application/json" };
    expect((await receiver.admin("/api/v1/backfills", { method: "POST", body, headers })).status).toBe(201);
    await page.goto("/problems/backfills?handler=shop%23audit");
    await signIn(page, VIEWER);
    await page.locator(".replay-row").click();
    await expectShown(panelOf(page).getByText(/accepted\. Handlers run them/));
    expect(await page.getByRole("button", { name: /Start|Pause|Resume|Cancel/ }).count()).toBe(0);
    expect(await dialogOf(page).count()).toBe(0);
  }),
);

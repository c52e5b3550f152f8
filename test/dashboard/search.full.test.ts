import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { withFilledReceiver } from "../support/filled-receiver.ts";
import { payment, type TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { expectShown, type OpenedPage, signIn, withDashboard, withPage } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };
const WIDE = { viewport: { width: 1_440, height: 900 } };
const NARROW = { viewport: { width: 390, height: 844 } };
const DELIVERY = "72d3162e-cc78-11e3-81ab-4c9367dc0958";

async function sendOrders(receiver: TestReceiver): Promise<void> {
  const headers = { "x-github-delivery": DELIVERY };
  await receiver.send(payment({ event_id: "evt_short" }, { order_id: "order-123", email: "ada@example.com" }), {
    headers,
  });
  await receiver.send(payment({ event_id: "evt_long" }, { order_id: "order-1235" }));
  await receiver.send(payment({ event_id: "evt_note" }, { order_id: "order-9", note: "instead of order-123, sorry" }));
  await receiver.send(payment({ event_id: "evt_forged" }, { order_id: "order-7" }), { secret: "z".repeat(32) });
  for (let other = 0; other < 30; other += 1) await receiver.send(payment({}, { order_id: `other-${other}` }));
}

const rowsOf = (page: Page) => page.locator(".activity-row");
const marksOf = (page: Page) => page.locator(".activity-row mark").allTextContents();

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

async function withOrders(use: (page: Page, receiver: TestReceiver) => Promise<void>, context = WIDE): Promise<void> {
  await withDashboard(
    async ({ page, receiver, problems }) => {
      await sendOrders(receiver);
      await page.goto("/");
      await signIn(page);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await use(page, receiver);
      expect(problems).toEqual([]);
    },
    { env: OPEN },
    context,
  );
}

async function requestIdOf({ adminOrigin }: TestReceiver): Promise<string> {
  const { callbacks } = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const [row] = (await callbacks.list({ event_id: "evt_short" })).items;
  return row?.request_id ?? "";
}

describe("from the overview, the search box finds a callback whose panel opens with one click", () => {
  it.each([
    ["an order id", "order-123", /evt_short/, "order-123"],
    ["an e-mail", "ada@example.com", /evt_short/, "ada@example.com"],
    ["an event id", "evt_short", /evt_short/, "evt_short"],
    ["the id that a refused callback claims", "evt_forged", /unverified evt_forged/, "evt_forged"],
    ["the platform's delivery id in its header", DELIVERY, /evt_short/, DELIVERY],
    ["a request id", requestIdOf, /evt_short/, undefined],
  ] as const)("by %s", { timeout: LIMIT_MS }, (_, text, row, mark) =>
    withOrders(async (page, receiver) => {
      const typed = typeof text === "string" ? text : await text(receiver);
      await search(page, typed);
      const first = page.locator('.activity-row[data-index="0"]');
      await expectShown(first.filter({ hasText: row }));
      expect((await marksOf(page))[0]).toBe(mark ?? typed);
      await first.click();
      await expectShown(page.getByRole("tab", { name: "Payload" }));
    }),
  );
});

it(
  "whole values come before beginnings, and these before texts, each with its match marked",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withOrders(async (page) => {
      await search(page, "order-123");
      await expectShown(page.getByText("End of results"));
      const events = page.locator(".activity-row .cell-event");
      await expect
        .poll(() => events.allTextContents(), { timeout: PATIENCE_MS })
        .toEqual(["evt_short", "evt_long", "evt_note"]);
      expect(await marksOf(page)).toEqual(["order-123", "order-123", "order-123"]);
      const reasons = page.locator(".activity-row .cell-reason");
      expect(await reasons.allTextContents()).toEqual([
        "200 order-123 in data.order_id",
        "200 order-1235 in data.order_id",
        expect.stringMatching(/^200 …tead of order-123, sorry in data\.note$/),
      ]);
      expect(new URL(page.url()).search).toBe("?q=order-123");
      expect(await page.getByRole("combobox", { name: "Search" }).inputValue()).toBe("order-123");
    }),
);

it("the match is seen on a telephone", { timeout: LIMIT_MS }, () =>
  withOrders(async (page) => {
    await search(page, "order-123");
    const mark = rowsOf(page).first().locator("mark");
    await expectShown(mark);
    const box = await mark.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 1_000)).toBeLessThan(390);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  }, NARROW),
);

it("the completions fit on a telephone", { timeout: LIMIT_MS }, () =>
  withOrders(async (page) => {
    await page.keyboard.press("/");
    const options = page.getByRole("listbox", { name: "Completions" });
    await expectShown(options);
    const edges = async () => {
      const { x = -1, width = 1_000 } = (await options.boundingBox()) ?? {};
      return x >= 0 && x + width <= 390;
    };
    await expect.poll(edges, { timeout: PATIENCE_MS }).toBe(true);
  }, NARROW),
);

it("a filter is completed with the keyboard from what is configured, and becomes a chip", { timeout: LIMIT_MS }, () =>
  withOrders(async (page) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("sour");
    await expectShown(page.getByRole("option", { name: /^source:/ }).first());
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expectShown(page.getByRole("option", { name: "source:platform" }));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("outcome:refu");
    await expectShown(page.getByRole("option", { name: /^outcome:refused/ }));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("since:3d");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/activity\?/);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      source: "platform",
      outcome: "refused",
      since: "3d",
    });
    await expect.poll(() => rowsOf(page).count(), { timeout: PATIENCE_MS }).toBe(1);
    await expectShown(page.getByRole("button", { name: "Source platform" }));
    await page.getByRole("button", { name: "Remove Source" }).click();
    const box = page.getByRole("combobox", { name: "Search" });
    await expect.poll(() => box.inputValue(), { timeout: PATIENCE_MS }).toBe("outcome:refused since:3d");
  }),
);

it("a filter that does not exist is answered with the nearest one", { timeout: LIMIT_MS }, () =>
  withOrders(async (page) => {
    await search(page, "soruce:platform");
    await expectShown(page.getByText(/did you mean source:\?/));
  }),
);

/** Slow enough to be stopped. @returns how many requests there were so far */
async function slowSearch(page: Page): Promise<() => number> {
  let requests = 0;
  await page.route("**/api/v1/search?*", async (route) => {
    requests += 1;
    const response = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, requests > 1 ? 500 : 0));
    await route.fulfill({ response });
  });
  return () => requests;
}

it("a text that is nowhere is searched to the end by itself, and Stop ends it before", { timeout: LIMIT_MS }, () => {
  const stopAndGoOn = async ({ page, problems }: OpenedPage) => {
    await page.goto("/");
    await signIn(page);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await search(page, '"nowhere at all"');
    await expectShown(page.getByText("No callback has this value."));
    const requests = await slowSearch(page);
    await search(page, '"nowhere either"');
    await expectShown(page.getByRole("progressbar"));
    await page.getByRole("button", { name: "Stop" }).click();
    await expectShown(page.getByText(/^Stopped/));
    const asked = requests();
    await page.getByRole("button", { name: "Go on" }).click();
    await expectShown(page.getByText("No callback has this value."));
    expect(requests()).toBeGreaterThan(asked);
    expect(problems).toEqual([]);
  };
  // Enough for more than two requests on a fast machine.
  return withFilledReceiver("sqlite", 120_000, ({ adminOrigin }) => withPage(adminOrigin, stopAndGoOn, WIDE), {
    env: OPEN,
  });
});

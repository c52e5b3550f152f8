import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { breaking } from "../support/breaking.ts";
import { event, payment } from "../support/receiver.ts";
import { deliverToShop, shop } from "../support/shop-source.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const PATIENCE_MS = 60_000;
const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };
const WIDE = { viewport: { width: 1_440, height: 900 } };
const rowOf = (page: Page, source: string) => page.locator(".source-table tbody tr").filter({ hasText: source });

/** WCAG 2.2, relative luminance. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const is = (wanted: number) => (count: number) => count === wanted;

it("every figure, and every bar, leads to a list of so many callbacks", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  const order = defineHandler({
    source: "shop",
    type: "order",
    data: z.object({}),
    handle: () => Promise.reject(new Error("the shop is closed")),
  });
  return withDashboard(
    async ({ page, receiver }) => {
      for (let at = 0; at < 5; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      for (let at = 0; at < 2; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      for (let at = 0; at < 3; at += 1) await receiver.send(payment(), { secret: "another secret of the same length" });
      for (let at = 0; at < 4; at += 1) await receiver.send(event("paid", {}));
      for (let at = 0; at < 3; at += 1) await deliverToShop(receiver, { id: `order_${at}` });
      for (let at = 0; at < 2; at += 1) await deliverToShop(receiver, { id: `visit_${at}`, type: "visit" });
      // It is in the log, and is no callback of an event.
      await receiver.admin("/api/v1/sources/platform/check", { method: "POST" });
      await until(() => receiver.count("oncehook_failures", "source = 'shop' AND state <> 'accepted'").then(is(3)));
      await page.goto("/");
      await signIn(page);
      const legend = page.getByRole("list", { name: "Legend" });
      const sentence = page.locator(".state-sentence");
      const source = rowOf(page, "platform");
      const accepting = rowOf(page, "shop");
      const figures = [
        [legend.getByRole("link", { name: "Handled: 5" }), 5],
        [legend.getByRole("link", { name: "Duplicates: 2" }), 2],
        [legend.getByRole("link", { name: "Ignored: 2" }), 2],
        [legend.getByRole("link", { name: "Refused: 3" }), 3],
        [legend.getByRole("link", { name: "Failed: 7" }), 7],
        [accepting.getByRole("link", { name: "failed of shop: 3" }), 3],
        [accepting.getByRole("link", { name: "handled of shop: 0" }), 0],
        [source.getByRole("link", { name: "handled of platform: 5" }), 5],
        [source.getByRole("link", { name: "refused of platform: 3" }), 3],
        [source.getByRole("link", { name: "failed of platform: 4" }), 4],
        [sentence.getByRole("link", { name: "5 handled" }), 5],
        [sentence.getByRole("link", { name: "3 refused" }), 3],
        [sentence.getByRole("link", { name: "7 failed" }), 7],
      ] as const;
      for (const [figure, count] of figures) {
        await figure.click();
        await until(async () => (await page.locator(".activity-row").count()) === count, PATIENCE_MS);
        await page.goBack();
      }
      // All came in this minute, or a few in the next one.
      const bars = page.locator(".bar:has(i)");
      await expectShown(bars.first());
      let total = 0;
      for (const bar of await bars.all()) {
        const counts = (await bar.getAttribute("aria-label"))?.match(/(?<= )\d+(?=,|$)/g) ?? [];
        const sum = counts.reduce((before, count) => before + Number(count), 0);
        await bar.click();
        await until(async () => (await page.locator(".activity-row").count()) === sum, PATIENCE_MS);
        total += sum;
        await page.goBack();
      }
      expect(total).toBe(19);
      await sentence.getByRole("link", { name: "2 problems are open" }).click();
      await until(async () => (await page.locator(".problem-row").count()) === 2, PATIENCE_MS);
      await page.goBack();
      await sentence.getByRole("link", { name: "3 events wait for a retry" }).click();
      await until(async () => (await page.locator(".problem-row").count()) === 1, PATIENCE_MS);
      expect(await page.locator(".problem-row .cell-count").textContent()).toMatch(/^3\b/);
      await page.goBack();
      const linked = await sentence.locator("a, time").allTextContents();
      const words = linked.reduce((rest, text) => rest.replace(text, ""), (await sentence.textContent()) ?? "");
      expect(words).not.toMatch(/\d/);
      await page.goto("/activity?source=shop&event_type=order");
      await until(async () => (await page.locator(".activity-row").count()) === 3, PATIENCE_MS);
      expect(await page.locator(".cell-type").allTextContents()).toEqual(["order", "order", "order"]);
      await page.goto("/sources");
      await expectShown(page.getByRole("link", { name: "failed of shop: 3" }));
      await expectShown(page.getByRole("link", { name: "handled of shop: 0" }));
    },
    {
      handlers: [...handlers, order],
      env: OPEN,
      sources: { shop: shop({ answer: "after" }) },
      retryPollMs: 50,
    },
    WIDE,
  );
});

it(
  "a mouse that is drawn over bars opens the callbacks of all of them, and of no other time",
  { timeout: LIMIT_MS },
  () =>
    withDashboard(
      async ({ page, receiver, problems }) => {
        for (let at = 0; at < 3; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
        await page.goto("/");
        await signIn(page);
        await expectShown(page.locator(".bar:has(i)").first());
        const bars = page.locator(".bar");
        const last = (await bars.count()) - 1;
        await bars.nth(last).hover();
        await page.mouse.down();
        await bars.nth(last - 20).hover();
        expect(await page.locator(".bar[data-drawn]").count()).toBe(21);
        await page.mouse.up();
        await until(async () => (await page.locator(".activity-row").count()) === 3, PATIENCE_MS);
        const { searchParams } = new URL(page.url());
        const [from, to] = ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? ""));
        expect((to ?? 0) - (from ?? 0)).toBe(21 * 60_000);
        expect(problems).toEqual([]);
      },
      { env: OPEN },
      WIDE,
    ),
);

it("each source has its outcomes of the hour as bars", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(payment({ event_id: "evt_1" }));
      await receiver.send(payment(), { secret: "another secret of the same length" });
      await page.goto("/");
      await signIn(page);
      const bars = rowOf(page, "platform").locator(".sparkline g");
      await expectShown(rowOf(page, "platform").locator("[data-group=handled]").first());
      expect(await bars.count()).toBe(30);
      expect(await bars.locator("[data-group=refused]").count()).toBe(1);
    },
    { env: OPEN },
    WIDE,
  ),
);

const FIRST_BAR = `[".bar", ".ticks span"].map((name) => document.querySelector(name)).map((found) =>
  [found.getAttribute("href"), found.getAttribute("aria-label") ?? found.textContent])`;

/** As the chart writes it. */
function labelIn(timeZone: string, span: string, at: Date): string {
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-US", { ...options, timeZone }).format(at);
  const time = part({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const day = `${part({ day: "2-digit" })} ${part({ month: "short" })}`;
  if (span === "Hour") return time;
  return span === "Month" && time.startsWith("00:") ? day : `${day} ${time}`;
}

it("the chart of the overview has an hour, a day and a month, labelled in the chosen zone", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver, problems }) => {
      for (let at = 0; at < 2; at += 1) await receiver.send(payment({ event_id: `evt_${at}` }));
      await page.goto("/");
      await signIn(page);
      const bars = page.locator(".bar");
      const handled = page.getByRole("list", { name: "Legend" }).getByRole("link", { name: "Handled: 2" });
      for (const { span, count, minutes } of [
        { span: "Hour", count: 60, minutes: 1 },
        { span: "Day", count: 96, minutes: 15 },
        { span: "Month", count: 180, minutes: 240 },
      ]) {
        await page.getByRole("radiogroup", { name: "Time range" }).getByText(span, { exact: true }).click();
        await until(async () => (await bars.count()) === count, PATIENCE_MS);
        await expectShown(handled);
        for (const [button, zone] of [
          ["UTC", "UTC"],
          ["Local", "Asia/Kathmandu"],
        ] as const) {
          await page.getByRole("button", { name: button, exact: true }).click();
          // Bar and label are read at once: with the next minute they become those of another one.
          await until(async () => {
            const [[href, text], [, tick]] = (await page.evaluate(FIRST_BAR)) as [[string, string], [null, string]];
            const { searchParams } = new URL(href, receiver.adminOrigin);
            const [from, to] = ["from", "to"].map((end) => Date.parse(searchParams.get(end) ?? "")) as [number, number];
            const label = labelIn(zone, span, new Date(from));
            return to - from === minutes * 60_000 && text === `${label}: no callback` && tick === label;
          }, PATIENCE_MS);
        }
      }
      expect(problems).toEqual([]);
    },
    { env: OPEN },
    { ...WIDE, timezoneId: "Asia/Kathmandu" },
  ),
);

it("legend, bars and their text have one order, and the arrow keys go from bar to bar", { timeout: LIMIT_MS }, () => {
  const { handlers } = breaking({ paid: "no row" });
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("paid", {}));
      await receiver.send(payment({ event_id: "evt_1" }));
      await receiver.send(payment({ event_id: "evt_1" }));
      await page.goto("/");
      await signIn(page);
      await page.locator(".bar:has(i[data-group=failed])").last().waitFor();
      const legend = await page.getByRole("list", { name: "Legend" }).getByRole("listitem").allTextContents();
      expect(legend.map((text) => text.replace(/\W*\d.*$/, ""))).toEqual([
        "Handled",
        "Duplicates",
        "Ignored",
        "Refused",
        "Failed",
      ]);
      const bar = page.locator(".bar:has(i[data-group=failed])").last();
      const parts = await bar.locator("i").all();
      const groups = await Promise.all(parts.map((part) => part.getAttribute("data-group")));
      const text = await bar.getAttribute("aria-label");
      const words = ["Handled", "Duplicates", "Failed"].filter((word) => text?.includes(word));
      expect(groups).toEqual(words.map((word) => word.toLowerCase()));
      expect(words.map((word) => text?.indexOf(word))).toEqual(
        words.map((word) => text?.indexOf(word)).toSorted((a, b) => Number(a) - Number(b)),
      );
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
        const of = (name: string): Promise<string> =>
          page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue("${name}")`);
        const [ignored, duplicates] = [await of("--ignored-area"), await of("--duplicate-area")];
        expect(contrast(ignored, await of("--mantine-color-body"))).toBeGreaterThan(3);
        expect(contrast(ignored, duplicates)).toBeGreaterThan(2);
      }
      await bar.hover();
      const shown = await page.getByRole("list", { name: "Legend" }).getByRole("link").allTextContents();
      const named = (await bar.getAttribute("aria-label"))?.match(/[A-Z][a-z]+ \d+/g) ?? [];
      expect(shown).toEqual(
        ["Handled", "Duplicates", "Ignored", "Refused", "Failed"].map(
          (word) => named.find((one) => one.startsWith(word))?.split(" ")[1] ?? "0",
        ),
      );
      await page.locator(".bar").last().focus();
      await page.keyboard.press("ArrowLeft");
      expect(await page.evaluate("[...document.querySelectorAll('.bar')].indexOf(document.activeElement)")).toBe(58);
    },
    { handlers, env: OPEN },
    WIDE,
  );
});

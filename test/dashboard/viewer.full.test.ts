import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectShown, signIn } from "./dashboard.ts";
import { type Everything, VIEWER, withEverything } from "./everything.ts";
import { go, isRead, PAGES, type Route } from "./routes.ts";

const LIMIT_MS = 180_000;
const WIDE = { viewport: { width: 1_440, height: 900 } };
/** What a button that writes is called, or begins with. */
const WRITES =
  /^(?:Dry run|Run|Replay|Mute|Unmute|Discard|Deliver|Check endpoint|Start|Pause|Resume|Cancel|Send|Learn|Forget|Revoke)\b/;

const routesOf = (ids: Everything["ids"]): Route[] => [
  ...PAGES,
  ["/sources/shop", "shop"],
  ["/problems/backfills/1", "Backfills"],
  ["/activity?source=shop", "Activity"],
  ...Object.values(ids).map((id): Route => [`/problems/${id}`, "Problems"]),
];

/** Goes everywhere, and to each tab of a panel; calls this at every look. */
async function walk(page: Page, routes: readonly Route[], search: string, look: (name: string) => Promise<void>) {
  for (const [path, heading] of routes) {
    await go(page, [path + (search === "" ? "" : `${path.includes("?") ? "&" : "?"}${search}`), heading]);
    await look(path);
    for (const tab of await page.getByRole("complementary").getByRole("tab").all()) {
      await tab.click();
      await isRead(page);
      await look(`${path}, ${await tab.textContent()}`);
    }
  }
}

it(
  "a viewer sees every page and panel, no button that writes, and sends nothing but reads",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withEverything(async ({ page, problems, ids }) => {
      await page.goto("/");
      await signIn(page, VIEWER);
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      const written: string[] = [];
      page.on(
        "request",
        (request) => request.method() !== "GET" && written.push(`${request.method()} ${request.url()}`),
      );
      const found: string[] = [];
      await walk(page, routesOf(ids), "", async (name) => {
        const buttons = await page
          .getByRole("button")
          .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? one.textContent ?? ""));
        found.push(...buttons.filter((text) => WRITES.test(text)).map((text) => `${name}: ${text}`));
      });
      await expectShown(page.getByRole("link", { name: "Overview" }));
      expect(found).toEqual([]);
      expect(written).toEqual([]);
      expect(problems).toEqual([]);
    }, WIDE),
);

const UTC_CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

/** Every time that is shown with hours and minutes, as its value and its text. */
const SHOWN_TIMES = `[...document.querySelectorAll("time[datetime]")]
  .filter((one) => one.checkVisibility() && /\\d\\d:\\d\\d/.test(one.textContent))
  .map((one) => [one.dateTime, one.textContent])`;

it(
  "every time of every page and panel is that of UTC, where it is chosen, and rows have milliseconds in one width",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withEverything(
      async ({ page, ids }) => {
        await page.goto("/?tz=utc");
        await signIn(page, VIEWER);
        await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
        const wrong: string[] = [];
        let seen = 0;
        await walk(page, routesOf(ids), "tz=utc", async (name) => {
          for (const [value, text] of (await page.evaluate(SHOWN_TIMES)) as [string, string][]) {
            seen += 1;
            if (!text.includes(UTC_CLOCK.format(new Date(value)))) wrong.push(`${name}: ${text} of ${value}`);
          }
        });
        expect(wrong).toEqual([]);
        expect(seen).toBeGreaterThan(100);
        await go(page, ["/activity?tz=utc", "Activity"]);
        const times = page.locator(".activity-row time");
        await expectShown(times.first());
        for (const text of await times.allTextContents())
          expect(text.trim()).toMatch(/^\d\d? \w{3} \d\d:\d\d:\d\d\.\d{3}$/);
        const widths = await times.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
        expect(new Set(widths).size).toBe(1);
      },
      { ...WIDE, timezoneId: "Asia/Yekaterinburg" },
    ),
);

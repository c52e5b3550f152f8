import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { event } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { expectShown, sendToken, signIn, withDashboard } from "./dashboard.ts";
import { type Everything, withEverything } from "./everything.ts";
import { go, isRead, PAGES } from "./routes.ts";
import { violations } from "./violations.ts";

const LIMIT_MS = 300_000;
const PATIENCE_MS = 60_000;

const OPENED = "[role=dialog], [role=menu]";

/** What axe found, by the name of what was shown. */
class Looks {
  readonly found: [name: string, lines: readonly string[]][] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** The schemes differ in their colours alone. @param within the part of the page that was not seen before */
  async at(name: string, within = "html"): Promise<void> {
    await this.#add(name, await violations(this.#page, { within }));
    await this.#turn("dark");
    await this.#add(`${name}, dark`, await violations(this.#page, { within, only: ["color-contrast"] }));
    await this.#turn("light");
  }

  async #turn(colorScheme: "dark" | "light"): Promise<void> {
    await this.#page.emulateMedia({ colorScheme });
    await this.#page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  }

  #add(name: string, lines: readonly string[]): void {
    if (lines.length > 0) this.found.push([name, lines]);
  }
}

type Scene = Everything & { readonly looks: Looks };

async function seePages({ page, looks }: Scene): Promise<void> {
  for (const route of [...PAGES, ["/sources/hub", "hub"], ["/sources/billing?span=hour", "billing"]] as const) {
    await go(page, route);
    await looks.at(route[0]);
  }
}

async function seePanels({ page, looks, ids }: Scene): Promise<void> {
  const seen = new Set<string>();
  for (const open of ["platform/evt_1", "platform/evt_2", "3"]) {
    await go(page, [`/activity?open=${open}`, "Activity"]);
    await page.getByRole("tab", { name: "Payload" }).waitFor();
    // A callback that ran no handler has no tab of SQL.
    for (const tab of await page.locator("aside").getByRole("tab").allTextContents()) {
      await page.getByRole("tab", { name: tab }).click();
      await isRead(page);
      await looks.at(`${tab} of ${open}`, "aside");
      seen.add(tab);
    }
  }
  expect([...seen].sort()).toEqual(["Payload", "Request", "Response", "SQL", "Timeline"]);
  for (const [kind, id] of Object.entries(ids)) {
    await go(page, [`/problems/${id}`, "Problems"]);
    await expectShown(page.getByRole("list", { name: "Events of this problem" }));
    await looks.at(`problem: ${kind}`, "aside");
  }
  await go(page, ["/problems/backfills/1", "Backfills"]);
  await expectShown(
    page
      .getByRole("complementary", { name: "Backfill" })
      .getByText(/accepted/)
      .first(),
  );
  await looks.at("backfill", "aside");
}
/** A look at a dialog or menu, which Escape closes. */
async function seeOpened({ page, looks }: Scene, name: string, press: () => Promise<void>): Promise<void> {
  const opened = page.locator(OPENED);
  await press();
  await expectShown(opened.first());
  await isRead(page);
  await looks.at(name, OPENED);
  await page.keyboard.press("Escape");
  await expect.poll(() => opened.count(), { timeout: PATIENCE_MS }).toBe(0);
}

async function seeDialogs(scene: Scene): Promise<void> {
  const { page, looks, ids } = scene;
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });
  const see = (name: string | RegExp) => seeOpened(scene, String(name), () => button(name).first().click());
  const failed = page.getByRole("complementary", { name: "Callback" });
  await go(page, ["/activity?open=platform/evt_2", "Activity"]);
  await see("Discard: evt_2");
  await see("Dry run: evt_2");
  await see("Replay: evt_2");
  await expectShown(failed.getByText(/^evt_2 was run now: /));
  await looks.at("result of a replay", "aside");
  await go(page, ["/activity?source=shop", "Activity"]);
  await see("Run all handled again…");
  await see("Status");
  await see(/^Time/);
  await see("Admin token, operator");
  await go(page, [`/problems/${ids.failure}`, "Problems"]);
  await see("Mute");
  await see(/^Replay/);
  await go(page, ["/problems/backfills", "Backfills"]);
  await see("Start a backfill");
  await go(page, ["/problems/backfills/1", "Backfills"]);
  await see("Cancel");
  await page.keyboard.press("/");
  await expectShown(page.getByRole("listbox", { name: "Completions" }));
  await looks.at("completions", "search");
  await page.keyboard.press("Escape");
  await go(page, ["/sandbox?source=shop", "Sandbox"]);
  await button("Send").click();
  await expectShown(page.getByText(/^Response \d/).first());
  await looks.at("response of the sandbox");
}

/** What stands in place of a page, a list or a panel that could not be read. */
async function seeTroubles({ page, looks, troubles }: Scene): Promise<void> {
  troubles.set("/api/v1/audit", 404);
  troubles.set("/api/v1/session", 500);
  await go(page, ["/settings/audit?action=none", "Audit log"]);
  await expectShown(page.getByText("could not be read"));
  await looks.at("an unreadable list");
  await expectShown(page.locator(".banner"));
  await looks.at("the banner");
  await page.reload();
  await expectShown(page.getByRole("heading", { name: "This page could not be shown" }));
  await looks.at("an unreadable page");
}

it(
  "axe finds no violation on any page, panel, dialog or error, in both schemes and on a telephone",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withEverything(
      async (shown) => {
        const { page, problems } = shown;
        const scene = { ...shown, looks: new Looks(page) };
        await page.goto("/sign-in");
        await sendToken(page, "not-the-admin-token");
        await expectShown(page.getByText("This is not the receiver's admin token."));
        await scene.looks.at("sign-in");
        await signIn(page);
        await seePages(scene);
        await seePanels(scene);
        await seeDialogs(scene);
        await page.setViewportSize({ width: 390, height: 844 });
        await seePages(scene);
        expect(problems).toEqual([]);
        await seeTroubles(scene);
        expect(scene.looks.found).toEqual([]);
      },
      { colorScheme: "light", reducedMotion: "reduce", viewport: { width: 1_440, height: 900 } },
    ),
);

it("the keyboard alone comes to the first row of each list within six tabs, and opens it", { timeout: LIMIT_MS }, () =>
  withEverything(
    async ({ page }) => {
      await page.goto("/activity");
      await signIn(page);
      for (const [path, row] of [
        ["/activity", ".activity-row"],
        ["/problems", ".problem-row"],
        ["/problems/replays", ".replay-row"],
        ["/problems/backfills", ".backfill-row"],
        ["/sources", ".source-row"],
      ] as const) {
        // The keyboard begins at the top of a page that was just opened.
        await page.goto(path);
        await page.locator(row).first().waitFor();
        const focused = (selector: string) =>
          page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        let tabs = 0;
        for (; tabs < 6 && (await focused("[href='#list'], #list")) === false; tabs += 1)
          await page.keyboard.press("Tab");
        if ((await focused("#list")) === false) await page.keyboard.press("Enter");
        await expect.poll(() => focused("#list"), { timeout: PATIENCE_MS }).toBe(true);
        await page.keyboard.press("ArrowDown");
        await expect.poll(() => focused(row), { timeout: PATIENCE_MS }).toBe(true);
        expect(tabs).toBeLessThanOrEqual(6);
        await page.keyboard.press("Enter");
        await expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).not.toBe(path);
      }
    },
    { viewport: { width: 1_440, height: 900 } },
  ),
);

it("a row of a list is at most 36 pixels high on a desktop", { timeout: LIMIT_MS }, () =>
  withEverything(
    async ({ page }) => {
      await page.goto("/");
      await signIn(page);
      for (const [path, row] of [
        ["/", ".source-table tbody tr"],
        ["/problems/replays", ".replay-row"],
        ["/problems/backfills", ".backfill-row"],
        ["/sources", ".source-row"],
        ["/settings/audit", ".audit-rows tbody tr"],
      ] as const) {
        await page.goto(path);
        await page.locator(row).first().waitFor();
        const heights = await page
          .locator(row)
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
        expect([path, heights.filter((height) => height > 36)]).toEqual([path, []]);
      }
    },
    { viewport: { width: 1_440, height: 900 } },
  ),
);

it("the dashboard fits a telephone of 360 pixels: no page scrolls sideways", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "e".repeat(200) }));
      await page.goto("/sign-in");
      await signIn(page);
      const wide: string[] = [];
      for (const shown of PAGES) {
        await go(page, shown);
        const width: unknown = await page.evaluate("document.documentElement.scrollWidth");
        if (Number(width) > 360) wide.push(`${shown[0]}: ${width}`);
      }
      expect(wide).toEqual([]);
    },
    { handlers: [unreliable().handler], env: { RETRY_MAX: "0" } },
    { viewport: { width: 360, height: 740 } },
  ),
);

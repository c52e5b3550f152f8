import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { DAY_MS } from "../../src/domain/index.ts";
import { withHttpServer } from "../support/http-server.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";
import { signIn, withPage } from "./dashboard.ts";
import { hoursOfAShop } from "./hours-of-a-shop.ts";
import { isToBeKept, Pictures } from "./pictures.ts";
import { PAGES } from "./routes.ts";

const LIMIT_MS = 600_000;
const ALL_VIEWS = [
  { suffix: "", viewport: { width: 1_440, height: 900 }, colorScheme: "light" },
  { suffix: "-dark", viewport: { width: 1_440, height: 900 }, colorScheme: "dark" },
  { suffix: "-narrow", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { suffix: "-narrow-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;
/** The pictures show what the page looks like; that it works is tested elsewhere, so one view is enough here. */
const VIEWS = isToBeKept ? ALL_VIEWS : ALL_VIEWS.slice(0, 1);

const rowWith = (text: string | RegExp) => (page: Page) => page.locator(".activity-row", { hasText: text }).first();

/** Each picture's page, and what leads to what it shows. */
const SCENES: Readonly<Record<string, { readonly at: string; readonly open?: (page: Page) => Promise<void> }>> = {
  overview: { at: "/" },
  activity: { at: "/activity" },
  event: {
    at: "/activity?outcome=handled",
    open: async (page) => {
      await rowWith("invoice.paid")(page).click();
      await page.getByRole("tab", { name: "Payload" }).waitFor();
    },
  },
  refused: {
    at: "/activity",
    open: async (page) => {
      await rowWith("github")(page).click();
      await page.getByText(/^Refused: /).waitFor();
    },
  },
  problems: { at: "/problems" },
  problem: {
    at: "/problems",
    open: async (page) => {
      await page.locator(".problem-row", { hasText: "sku" }).locator(".cell-what").click();
      await page.getByRole("complementary", { name: "Problem" }).getByText("orders.ts").first().waitFor();
    },
  },
  "dry-run": {
    at: "/problems",
    open: async (page) => {
      await SCENES.problem?.open?.(page);
      await page.getByRole("button", { name: "Dry run", exact: true }).click();
      await page.getByRole("dialog").getByText("nothing has changed").waitFor();
    },
  },
  replays: { at: "/problems/replays" },
  replay: {
    at: "/problems/replays/1",
    open: async (page) => {
      await page.getByText("Started by").first().waitFor();
    },
  },
  backfills: { at: "/problems/backfills" },
  sources: { at: "/sources" },
  source: { at: "/sources/stripe" },
  settings: { at: "/settings" },
  checks: {
    at: "/settings/checks",
    open: async (page) => {
      await page.getByRole("button", { name: "Run checks" }).click();
      await page.getByText(/ Ran /).waitFor();
    },
  },
  storage: { at: "/settings/storage" },
  background: { at: "/settings/background" },
  alerts: { at: "/settings/alerts" },
  audit: { at: "/settings/audit" },
  sandbox: { at: "/sandbox" },
};

/** The page of an address, whatever it shows. */
const pageOf = (path: string) => path.replace(/\?.*$/, "").replace(/^\/sources\/.+/, "/sources/$name");

it("each page that the accessibility test goes to has a picture", () => {
  const taken = new Set(Object.values(SCENES).map(({ at }) => pageOf(at)));
  const pages = PAGES.map(([path]) => pageOf(path)).filter((path) => path !== "/nowhere");
  expect(pages.filter((path) => !taken.has(path))).toEqual([]);
});

async function take(page: Page, pictures: Pictures, suffix: string): Promise<void> {
  for (const [name, { at, open }] of Object.entries(SCENES)) {
    await page.goto(at);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await until(async () => (await page.locator("[aria-busy=true], .mantine-Skeleton-root").count()) === 0, 30_000);
    await until(async () => (await page.getByText(/^Reading /).count()) === 0, 30_000);
    await open?.(page);
    await pictures.take(page, name + suffix);
  }
}

async function delivered(receiver: TestReceiver, day: ReturnType<typeof hoursOfAShop>): Promise<void> {
  await day.deliver(receiver);
  await until(async () => (await receiver.count("oncehook_failures")) >= 41, 60_000);
  await until(async () => (await receiver.count("oncehook_deliveries", "state = 'dead'")) > 0, 60_000);
  day.mend();
}

/** What an operator did in the hours: events of a source were run again, and a handler got its history. */
async function operated({ adminOrigin }: TestReceiver): Promise<void> {
  const { bulkReplays, backfills } = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const filter = { source: "slack" };
  const replay = await bulkReplays.startHandled({ filter, reason: "posted to the wrong channel" });
  const since = new Date(Date.now() - DAY_MS).toISOString();
  const backfill = await backfills.start({ handler: "stripe", since, per_second: 100 });
  await until(async () => (await bulkReplays.get(replay.id)).ended_at !== null, 60_000);
  await until(async () => (await backfills.get(backfill.id)).ended_at !== null, 60_000);
}

it("each page of the dashboard has its pictures of a day with four platforms", { timeout: LIMIT_MS }, () => {
  const day = hoursOfAShop(isToBeKept ? 24 : 2);
  return withHttpServer(
    (_request, response) => response.writeHead(day.isWebhookGone() ? 410 : 204).end(),
    (webhook) =>
      withReceiver(
        "sqlite",
        async (receiver) => {
          await delivered(receiver, day);
          await operated(receiver);
          const pictures = new Pictures();
          for (const { suffix, ...context } of VIEWS)
            await withPage(
              receiver.adminOrigin,
              async ({ page, problems }) => {
                await page.goto("/");
                await page.getByRole("button", { name: "Sign in" }).waitFor();
                await pictures.take(page, `sign-in${suffix}`);
                await signIn(page);
                await take(page, pictures, suffix);
                expect(problems).toEqual([]);
              },
              { ...context, locale: "en-GB", timezoneId: "Europe/Berlin", reducedMotion: "reduce" },
            );
          pictures.expectThoseOfDocs(ALL_VIEWS.map(({ suffix }) => suffix));
        },
        {
          ...day.options,
          env: {
            RATE_LIMIT_DEFAULT: "off",
            RATE_LIMIT_CALLBACK: "off",
            TRUST_PROXY: "127.0.0.1",
            CALLBACK_BASE_URL: "https://hooks.example.com",
            NOTIFY_WEBHOOK_URL: webhook,
            NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 8).toString("base64")}`,
            NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
          },
          bulkPollMs: 200,
          backfillPollMs: 200,
          outboxPollMs: 200,
          rollupPollMs: 25,
          alertPollMs: 1_000,
          upkeepPollMs: 1_000,
        },
      ),
  );
});

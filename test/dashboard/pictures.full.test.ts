import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { POLL_INTERVALS } from "../../src/app/background-work.ts";
import { DAY_MS } from "../../src/domain/index.ts";
import { withMigrated } from "../support/databases.ts";
import { withHttpServer } from "../support/http-server.ts";
import type { Target } from "../support/open-target.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";
import { signIn, withPage } from "./dashboard.ts";
import { hoursOfAShop } from "./hours-of-a-shop.ts";
import { isToBeKept, Pictures } from "./pictures.ts";
import { PAGES } from "./routes.ts";
import { SCENES } from "./scenes.ts";

const LIMIT_MS = 600_000;
const ALL_VIEWS = [
  { suffix: "", viewport: { width: 1_440, height: 900 }, colorScheme: "light" },
  { suffix: "-dark", viewport: { width: 1_440, height: 900 }, colorScheme: "dark" },
  { suffix: "-narrow", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { suffix: "-narrow-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;
/** The pictures show what the page looks like; that it works is tested elsewhere, so one view is enough here. */
const VIEWS = isToBeKept ? ALL_VIEWS : ALL_VIEWS.slice(0, 1);

/** A day is delivered in seconds: its outbox, counts and alerts keep up with it. */
const FAST = { outboxPollMs: 200, rollupPollMs: 25, alertPollMs: 1_000, upkeepPollMs: 1_000 };
const ENV = {
  RATE_LIMIT_DEFAULT: "off",
  RATE_LIMIT_CALLBACK: "off",
  TRUST_PROXY: "127.0.0.1",
  CALLBACK_BASE_URL: "https://hooks.example.com",
  RECORD_STATEMENTS: "true",
  NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 8).toString("base64")}`,
  NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
};
/** Values that the configuration shows in place of the ports and folders of a test. */
const SHOWN_VALUES: Readonly<Record<string, string>> = {
  DATABASE_URL: "sqlite:/srv/shop/oncehook.db",
  PORT: "8080",
  ADMIN_PORT: "9090",
  NOTIFY_WEBHOOK_URL: "https://ops.example.com/hooks",
  NOTIFY_ALLOW_ADDRESSES: "10.20.0.0/16",
};

/** The page of an address, whatever it shows. */
const pageOf = (path: string) => path.replace(/\?.*$/, "").replace(/^\/sources\/.+/, "/sources/$name");

it("each page that the accessibility test goes to has a picture", () => {
  const taken = new Set(Object.values(SCENES).map(({ at }) => pageOf(at)));
  const pages = PAGES.map(([path]) => pageOf(path)).filter((path) => path !== "/nowhere");
  expect(pages.filter((path) => !taken.has(path))).toEqual([]);
});

async function take(page: Page, receiver: TestReceiver, pictures: Pictures, suffix: string): Promise<void> {
  for (const [name, { at, open, restore }] of Object.entries(SCENES)) {
    await page.goto(at);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await until(async () => (await page.locator("[aria-busy=true], .mantine-Skeleton-root").count()) === 0, 30_000);
    await until(async () => (await page.getByText(/^Reading /).count()) === 0, 30_000);
    await open?.(page, receiver);
    await pictures.take(page, name + suffix);
    await restore?.(receiver);
  }
}

async function withRunning(target: Target, options: ReceiverOptions, use: (receiver: TestReceiver) => Promise<void>) {
  const receiver = await startReceiver(target, options);
  try {
    await use(receiver);
  } finally {
    await receiver.stop();
  }
}

async function delivered(receiver: TestReceiver, day: ReturnType<typeof hoursOfAShop>): Promise<void> {
  await day.deliver(receiver);
  await until(async () => (await receiver.count("oncehook_failures")) >= 41, 60_000);
  await until(async () => (await receiver.count("oncehook_deliveries", "state = 'waiting'")) === 0, 60_000);
  await until(async () => (await receiver.count("oncehook_alerts", "is_open = 1")) > 0, 60_000);
  day.mend();
}

/** An operator has run the events of a source again, and given a new handler its history. */
async function operated({ adminOrigin }: TestReceiver): Promise<void> {
  const { bulkReplays, backfills } = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const filter = { source: "slack" };
  const replay = await bulkReplays.startHandled({ filter, per_second: 100, reason: "posted to the wrong channel" });
  const since = new Date(Date.now() - DAY_MS).toISOString();
  const backfill = await backfills.start({ handler: "stripe#audit", since, per_second: 100 });
  await until(async () => (await bulkReplays.get(replay.id)).ended_at !== null, 60_000);
  // It ends a minute later, after its second pass: only a picture that is kept shows that.
  if (isToBeKept) await until(async () => (await backfills.get(backfill.id)).ended_at !== null, 120_000);
}

/** Shows the configuration of a shop: a test has other ports and folders in each run. */
async function showShopValues(page: Page): Promise<void> {
  await page.route("**/api/v1/configuration", async (route) => {
    const response = await route.fetch();
    const { values, ...rest } = (await response.json()) as { values: { name: string; value: string | null }[] };
    const shown = values.map((one) => ({ ...one, value: SHOWN_VALUES[one.name] ?? one.value }));
    await route.fulfill({ response, json: { ...rest, values: shown } });
  });
}

async function takeViews(receiver: TestReceiver): Promise<void> {
  const pictures = new Pictures();
  for (const { suffix, ...context } of VIEWS)
    await withPage(
      receiver.adminOrigin,
      async ({ page, problems }) => {
        await showShopValues(page);
        await page.goto("/");
        await page.getByRole("button", { name: "Sign in" }).waitFor();
        await pictures.take(page, `sign-in${suffix}`);
        await signIn(page);
        await take(page, receiver, pictures, suffix);
        expect(problems).toEqual([]);
      },
      { ...context, locale: "en-GB", timezoneId: "Europe/Berlin", reducedMotion: "reduce" },
    );
  pictures.expectThoseOfDocs(ALL_VIEWS.map(({ suffix }) => suffix));
}

it("each page of the dashboard has its pictures of a day with four platforms", { timeout: LIMIT_MS }, () => {
  const day = hoursOfAShop(isToBeKept ? 24 : 2);
  return withHttpServer(
    (_request, response) => response.writeHead(day.isWebhookGone() ? 410 : 204).end(),
    (webhook) =>
      withMigrated("sqlite", async (target) => {
        const env = { ...ENV, NOTIFY_WEBHOOK_URL: webhook };
        await withRunning(target, { ...day.options, ...FAST, env }, (receiver) => delivered(receiver, day));
        // The pictures show the product's own intervals.
        const { handlers } = day.options;
        const shown = { ...day.options, handlers: [...handlers, day.audit], ...POLL_INTERVALS, env };
        await withRunning(target, shown, async (receiver) => {
          await operated(receiver);
          await takeViews(receiver);
        });
      }),
  );
});

import type { Locator, Page } from "playwright-core";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { HOUR_MS } from "../../src/domain/index.ts";
import type { TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

/** A page as a picture shows it. */
interface Scene {
  readonly at: string;
  /** The steps to its content. */
  readonly open?: (page: Page, receiver: TestReceiver) => Promise<void>;
  /** Takes back a change of the data. */
  readonly restore?: (receiver: TestReceiver) => Promise<void>;
}

const rowWith = (text: string | RegExp) => (page: Page) => page.locator(".activity-row", { hasText: text }).first();
const tab = (page: Page, name: string): Locator => page.getByRole("tab", { name });

/** Opens the first row of Activity with this text, and one of its tabs. */
const inPanel = (text: string, name: string) => async (page: Page) => {
  await rowWith(text)(page).click();
  await tab(page, name).click();
  await page.getByRole("tabpanel").waitFor();
};

const inProblem = (row: string, text: string | RegExp) => async (page: Page) => {
  await page.locator(".problem-row", { hasText: row }).locator(".cell-what").click();
  await page.getByRole("complementary", { name: "Problem" }).getByText(text).first().waitFor();
};

const deliveryProblem = async ({ adminOrigin }: TestReceiver) => {
  const { problems } = createAdminClient({ origin: adminOrigin, token: TOKEN });
  const [problem] = (await problems.list({ kind: "delivery" })).items;
  return { problems, id: problem?.id ?? "" };
};

/** The page of each picture, and the steps to its content. */
export const SCENES: Readonly<Record<string, Scene>> = {
  overview: { at: "/" },
  activity: { at: "/activity" },
  event: { at: "/activity?outcome=handled", open: inPanel("invoice.paid", "Payload") },
  failed: { at: "/activity?outcome=failed", open: inPanel("orders/create", "Payload") },
  timeline: { at: "/activity?outcome=duplicate&source=stripe", open: inPanel("stripe", "Timeline") },
  sql: { at: "/activity?outcome=handled&source=stripe", open: inPanel("invoice.paid", "SQL") },
  search: {
    at: "/activity?q=cus_QX7f105",
    open: async (page) => {
      await page.locator(".activity-row mark").first().waitFor();
      await page.getByText(/^\d+ results, /).waitFor();
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
  problem: { at: "/problems", open: inProblem("sku", "orders.ts") },
  "refusal-problem": { at: "/problems?kind=refusal", open: inProblem("github", "Refused") },
  "delivery-problem": { at: "/problems?kind=delivery", open: inProblem("webhook", "410") },
  muted: {
    at: "/problems",
    open: async (page, receiver) => {
      const { problems, id } = await deliveryProblem(receiver);
      const until = new Date(Date.now() + 8 * HOUR_MS).toISOString();
      await problems.mute(id, { until, reason: "the webhook moves to another host" });
      await page.reload();
      await inProblem("webhook", /[Mm]uted until/)(page);
    },
    restore: async (receiver) => {
      const { problems, id } = await deliveryProblem(receiver);
      await problems.unmute(id);
    },
  },
  "dry-run": {
    at: "/problems",
    open: async (page) => {
      await inProblem("sku", "orders.ts")(page);
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
  "failing-source": { at: "/sources/shopify" },
  settings: { at: "/settings" },
  checks: {
    at: "/settings/checks",
    open: async (page) => {
      await page.getByRole("button", { name: "Run checks" }).click();
      await page.getByText(/ Ran /).waitFor();
    },
  },
  storage: {
    at: "/settings/storage",
    open: (page) => page.locator("dd time").first().waitFor(),
  },
  background: { at: "/settings/background" },
  alerts: {
    at: "/settings/alerts",
    open: (page) => page.getByText(/ not delivered, the last one at /).waitFor(),
  },
  audit: { at: "/settings/audit" },
  sandbox: { at: "/sandbox" },
};

/**
 * `npm run measure:dashboard`: how long a reader of the dashboard waits, in a browser, on both databases, with a million rows
 * (`--rows`) in the callback log and ten thousand failures (`--failures`). From the navigation to the first row: the goal is a
 * median of 500 ms, and of 1.6 s with nothing cached, a latency of 60 ms, 7.5 Mbit/s and a quarter of the processor. From
 * a click on a row to the panel with its data: the goal is a p95 of 150 ms. Needs `npm run build:dashboard`.
 */
import { parseArgs } from "node:util";
import chromium from "@sparticuz/chromium";
import { type BrowserContext, type Page, chromium as playwright } from "playwright-core";
import type { Target } from "../test/support/open-target.ts";
import { fill, fillFailures } from "./measure/fill.ts";
import { onNewDatabase } from "./measure/on-new-database.ts";
import { measureStores, row } from "./measure/report.ts";

const TOKEN = "measure-dashboard-token";
const [FIRST_ROW_MS, PANEL_MS, COLD_MS] = [500, 150, 1_600];
const WIDE = { width: 1_440, height: 900 };
const COLD = { latencyMs: 60, bytesPerSecond: 7_500_000 / 8, slowerBy: 4 };

/** The first row of each place. */
const PLACES = [
  ["Overview", "/", ".source-table tbody tr"],
  ["Activity", "/activity", ".activity-row .cell-source"],
  ["Problems", "/problems", ".problem-row .cell-what"],
  ["Sources", "/sources", ".source-row"],
] as const;
const [, ACTIVITY, ACTIVITY_ROW] = PLACES[1];
const PANEL = ".panel .result-line";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    failures: { type: "string", default: "10000" },
    navigations: { type: "string", default: "7" },
    clicks: { type: "string", default: "50" },
    store: { type: "string", default: "sqlite,postgres" },
  },
});
const [rows, failures, navigations, clicks] = [values.rows, values.failures, values.navigations, values.clicks].map(
  Number,
) as [number, number, number, number];

// Its own renderer of 3D graphics takes a third of the work.
chromium.setGraphicsMode = false;
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args.filter((arg) => arg !== "--single-process"),
  headless: true,
});

/** @returns whether each of them met the goal */
function measure(dialect: Target["dialect"], server: string | undefined): Promise<boolean> {
  return onNewDatabase(dialect, server, TOKEN, async ({ target, serve }) => {
    await fill(target, rows);
    await fillFailures(target, failures);
    const receiver = await serve();
    process.stdout.write(`\n${dialect}: ${rows} callbacks, ${failures} failures\n\n`);
    return await measurePages(receiver.adminOrigin).finally(() => receiver.stop());
  });
}

async function measurePages(origin: string): Promise<boolean> {
  const context = await browser.newContext({ baseURL: origin, viewport: WIDE });
  const page = await context.newPage();
  await signIn(page);
  row("what a reader waits for", "p50 ms", "p95 ms", "longest", "goal ms");
  row("---", "---:", "---:", "---:", "---:");
  let isGoalMet = true;
  for (const [name, path, selector] of PLACES) {
    const took = await repeat(navigations, () => firstRowMs(page, path, selector));
    isGoalMet = report(`${name}: its first row`, took, { share: 0.5, goalMs: FIRST_ROW_MS }) && isGoalMet;
  }
  const opened = await clickRows(page);
  isGoalMet = report("a click on a row: its panel", opened, { share: 0.95, goalMs: PANEL_MS }) && isGoalMet;
  const cold = await repeat(navigations, () => coldMs(context));
  isGoalMet = report("Activity: its first row, cold", cold, { share: 0.5, goalMs: COLD_MS }) && isGoalMet;
  await context.close();
  return isGoalMet;
}

async function signIn(page: Page): Promise<void> {
  await page.goto("/");
  await page.getByLabel("Admin token").fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForSelector(PLACES[0][2]);
}

async function repeat(times: number, ask: () => Promise<number>): Promise<number[]> {
  const took: number[] = [];
  for (let time = 0; time < times; time += 1) took.push(await ask());
  return took;
}

/** From the start of the navigation to the frame that has the row, in the page's own time. */
async function firstRowMs(page: Page, path: string, selector: string): Promise<number> {
  await page.goto(path, { waitUntil: "commit" });
  return shownAt(page, selector);
}

/** @returns the page's time of the first frame that has the element */
function shownAt(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () =>
      document.querySelector(${JSON.stringify(selector)}) === null
        ? requestAnimationFrame(look)
        : resolve(performance.now());
    look();
  })`);
}

async function clickRows(page: Page): Promise<number[]> {
  await firstRowMs(page, ACTIVITY, ACTIVITY_ROW);
  const took: number[] = [];
  for (let click = 0; click < clicks; click += 1) {
    if (click % 20 === 0) await firstRowMs(page, ACTIVITY, ACTIVITY_ROW);
    const cell = `document.querySelectorAll(${JSON.stringify(ACTIVITY_ROW)})[${click % 20}]`;
    const clicked = await page.evaluate<number>(`(() => {
      const begun = performance.now();
      ${cell}.click();
      return begun;
    })()`);
    took.push((await shownAt(page, PANEL)) - clicked);
    await page.keyboard.press("Escape");
    await page.waitForSelector(PANEL, { state: "detached" });
  }
  return took;
}

async function coldMs(context: BrowserContext): Promise<number> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  const { latencyMs, bytesPerSecond, slowerBy } = COLD;
  const throughput = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: latencyMs, ...throughput });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowerBy });
  const took = await firstRowMs(page, ACTIVITY, ACTIVITY_ROW);
  await page.close();
  return took;
}

/** @returns whether this share of them met the goal */
function report(name: string, took: number[], { share, goalMs }: { share: number; goalMs: number }): boolean {
  took.sort((one, other) => one - other);
  const at = (part: number) => took[Math.ceil(part * took.length) - 1] ?? 0;
  row(name, ...[at(0.5), at(0.95), at(1)].map(Math.round), goalMs);
  return at(share) <= goalMs;
}

process.exitCode = (await measureStores(values.store, measure).finally(() => browser.close())) ? 0 : 1;

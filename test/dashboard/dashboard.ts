import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { withBrowser } from "../support/browser.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

/** A browser on a busy machine takes its time. */
const PATIENCE_MS = 60_000;

export interface OpenedPage {
  readonly browser: Browser;
  readonly page: Page;
  /** What a user should never meet: errors of scripts, of the policy, and requests to other hosts. */
  readonly problems: string[];
}

export interface Dashboard extends OpenedPage {
  readonly receiver: TestReceiver;
}

/** Lends a receiver and a browser at its sign-in page. */
export function withDashboard<T>(
  use: (dashboard: Dashboard) => Promise<T>,
  options: ReceiverOptions = {},
  context: BrowserContextOptions = {},
): Promise<T> {
  return withReceiver(
    "sqlite",
    (receiver) => withPage(receiver.adminOrigin, (opened) => use({ receiver, ...opened }), context),
    options,
  );
}

/** Lends a page at this origin. */
export function withPage<T>(
  origin: string,
  use: (opened: OpenedPage) => Promise<T>,
  context: BrowserContextOptions = {},
): Promise<T> {
  return withBrowser(async (browser) => {
    const opened = await browser.newContext({ baseURL: origin, ...context });
    opened.setDefaultTimeout(PATIENCE_MS);
    const page = await opened.newPage();
    return use({ browser, page, problems: watch(page, origin) });
  });
}

function watch(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // What the API refuses is shown by the page; the browser says it too.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) problems.push(request.url());
  });
  return problems;
}

/** Sends the form of the sign-in. */
export async function sendToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Admin token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Signs in, and waits until the page behind it is there. */
export async function signIn(page: Page, token = TOKEN): Promise<void> {
  await sendToken(page, token);
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor({ state: "hidden" });
}

/** Waits until it is seen, as an assertion. */
export async function expectShown(locator: Locator): Promise<void> {
  await expect.poll(() => locator.isVisible(), { timeout: PATIENCE_MS }).toBe(true);
}

/** Lets the page's time run, two seconds at a look, until this is so. Its clock has to be installed before the page is opened. */
export function untilInItsTime(page: Page, condition: () => Promise<boolean>): Promise<void> {
  return until(async () => {
    await page.clock.runFor(2_000);
    return condition();
  }, PATIENCE_MS);
}

/** A page whose clock the test moves, and whose requests are given up after a twentieth of their time. */
export async function inItsOwnTime(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(() => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(ms / 20);
  });
}

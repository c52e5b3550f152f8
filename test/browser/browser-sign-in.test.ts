import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";
import { expect, it } from "vitest";
import { withFlow } from "../support/oauth-flow.ts";

/** Lends a Chromium; npm brings it, packed, and it is unpacked into a folder of its own. */
async function withBrowser<T>(use: (browser: Browser) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-browser-"));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    const executablePath = await chromium.executablePath();
    const browser = await playwright.launch({ executablePath, args: chromium.args, headless: true });
    try {
      return await use(browser);
    } finally {
      await browser.close();
    }
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await rm(folder, { recursive: true, force: true });
  }
}

it.each(["query", "form_post"])(
  "a user signs in with a real browser, and going back or reloading changes nothing: %s",
  (mode) =>
    withFlow(
      "sqlite",
      ({ startUrl, receiver, platform }) =>
        withBrowser(async (browser) => {
          const page = await browser.newPage();
          const problems: string[] = [];
          page.on("pageerror", (error) => problems.push(String(error)));
          await page.goto(startUrl);
          await page.fill("input[name=login]", "ada");
          await page.fill("input[name=password]", "any");
          await page.click("button[type=submit]");
          await page.click("button[type=submit]");
          await page.waitForURL(/oauth-done$/);
          expect(await page.textContent("h1")).toBe("You are signed in");
          expect(await page.title()).toBe("You are signed in");
          await page.reload();
          expect(await page.textContent("h1")).toBe("You are signed in");
          expect(await receiver.count("users", "user_id = 'ada'")).toBe(1);
          expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 0, refused: 0 });
          expect(problems).toEqual([]);
        }),
      { env: { OAUTH_RESPONSE_MODE: mode } },
    ),
  60_000,
);

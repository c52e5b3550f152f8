import { expect, it } from "vitest";
import { withBrowser } from "../support/browser.ts";
import { withFlow } from "../support/oauth-flow.ts";

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

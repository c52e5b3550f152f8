import type { RequestListener } from "node:http";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { withBrowser } from "../support/browser.ts";
import { withHttpServer } from "../support/http-server.ts";
import { type OperatorsTest, withOperators } from "../support/operators.ts";

const LIMIT_MS = 120_000;

/** Signs in at the provider, which is another site, and comes to rest at the listener's first page. */
async function signIn(page: Page, { base }: OperatorsTest): Promise<Record<string, string>> {
  await page.goto(`${base}/sign-in/oidc`);
  await page.fill("input[name=login]", "ada");
  await page.fill("input[name=password]", "any");
  await page.click("button[type=submit]");
  const [response] = await Promise.all([
    page.waitForResponse(`${base}/`),
    page.waitForURL(`${base}/`),
    page.click("button[type=submit]"),
  ]);
  return response.request().allHeaders();
}

async function answerOf(page: Page, url: string): Promise<[number | undefined, string | null]> {
  const response = await page.goto(url);
  return [response?.status(), await page.textContent("body")];
}

it(
  "an operator signs in with a real browser, and is signed in on the page that comes next",
  { timeout: LIMIT_MS },
  () =>
    withOperators("sqlite", (test) =>
      withBrowser(async (browser) => {
        // The answers of the API are no pages, and their policy lets nothing be asked from them.
        const page = await browser.newPage({ bypassCSP: true });
        expect(await signIn(page, test)).toMatchObject({
          cookie: expect.stringMatching(/^oncehook-session-\d+=[\w-]{43}$/),
          "sec-fetch-site": "same-origin",
        });
        const [status, text] = await answerOf(page, `${test.base}/api/v1/session`);
        expect([status, JSON.parse(text ?? "")]).toEqual([
          200,
          expect.objectContaining({ actor: "ada@example.com", role: "operator" }),
        ]);
        expect(await page.evaluate("document.cookie")).toBe("");
        const discard = "fetch('/api/v1/failures/platform/none', { method: 'DELETE' }).then(({ status }) => status)";
        expect(await page.evaluate(discard)).toBe(404);
      }),
    ),
);

it("no page of another site or another port acts for a signed-in operator", { timeout: LIMIT_MS }, () =>
  withOperators("sqlite", (test) =>
    withBrowser(async (browser) => {
      const page = await browser.newPage();
      await signIn(page, test);
      const answer: RequestListener = (_request, response) => {
        response
          .setHeader("content-type", "text/html")
          .end(
            `<a href="${test.base}/api/v1/session">look</a>` +
              `<form method="post" action="${test.base}/api/v1/failures/platform/f1/replay"><button>replay</button></form>`,
          );
      };
      await withHttpServer(answer, async (samePlace) => {
        const otherSite = samePlace.replace("127.0.0.1", "localhost");
        const after = async (origin: string, element: string) => {
          await page.goto(origin);
          const [response] = await Promise.all([page.waitForResponse(/\/api\/v1\//), page.click(element)]);
          const { cookie } = await response.request().allHeaders();
          return [response.status(), cookie === undefined ? "no cookie" : "cookie"];
        };
        expect(await after(otherSite, "a")).toEqual([401, "no cookie"]);
        expect(await after(otherSite, "button")).toEqual([401, "no cookie"]);
        expect(await after(samePlace, "button")).toEqual([403, "cookie"]);
      });
      expect((await test.receiver.admin("/api/v1/audit?action=failure.replay")).body.items).toEqual([]);
    }),
  ),
);

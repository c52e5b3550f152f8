import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { toAdminHandler } from "../../src/embed/admin-node-handler.ts";
import { expectShown, withPage } from "../dashboard/dashboard.ts";
import { type EmbeddedAdminTest, FAILED, HANDLED, withEmbeddedAdmin } from "../support/embedded-admin.ts";

const MOUNT = "/admin/webhooks";
const LIMIT_MS = 120_000;

/** The application's login: a form, and a cookie for all of its pages. */
function login(request: IncomingMessage, response: ServerResponse): void {
  const { searchParams } = new URL(request.url ?? "/", "http://shop.example");
  const role = searchParams.get("as");
  if (role !== null) response.setHeader("set-cookie", `shop=${role}; Path=/; HttpOnly; SameSite=Lax`);
  if (request.url === "/logout") response.setHeader("set-cookie", "shop=; Path=/; Max-Age=0");
  response.setHeader("content-type", "text/html").end("<!doctype html><title>Shop</title><h1>The shop</h1>");
}

const ofCookie = (cookie: string | null | undefined) => /shop=(operator|viewer)/.exec(cookie ?? "")?.[1];

/** Lends a browser in the shop: an application with its own login, and the page under a path of it. */
function withShop(use: (shop: { page: Page; problems: string[]; test: EmbeddedAdminTest }) => Promise<void>) {
  const authorize = (request: Request) => {
    const role = ofCookie(request.headers.get("cookie"));
    return role === undefined ? null : { role: role as "operator" | "viewer", name: `${role}@shop.example` };
  };
  return withEmbeddedAdmin("sqlite", { authorize }, async (test) => {
    const admin = toAdminHandler(test, { basePath: MOUNT });
    const server = createServer((request, response) => {
      // An application's own policy for its pages, as helmet sets it.
      response.setHeader("content-security-policy", "default-src 'self'; base-uri 'self'");
      if (request.url?.startsWith(MOUNT)) admin(request, response);
      else login(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await withPage(origin, ({ page, problems }) => use({ page, problems, test }));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

it(
  "an operator of the application lists callbacks, opens an event and replays a failed one, below its path",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withShop(async ({ page, problems, test }) => {
      await page.goto("/login?as=operator");
      await page.goto(MOUNT);
      await page.getByRole("heading", { name: "Outcomes" }).waitFor();
      await expectShown(page.getByText("operator@shop.example, operator").first());
      await page.locator(".session").click();
      await expectShown(page.getByRole("menuitem", { name: "Dark" }));
      expect(await page.getByRole("menuitem", { name: "Sign out" }).count()).toBe(0);
      await page.keyboard.press("Escape");
      expect(await page.getByRole("link", { name: "Sandbox" }).count()).toBe(0);
      await page.getByRole("link", { name: "Activity" }).click();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("row", { name: HANDLED }).click();
      await page.getByText("Timeline").first().waitFor();
      expect(new URL(page.url()).pathname).toBe(`${MOUNT}/activity`);
      // A link that someone sent, and a reload.
      await page.goto(`${MOUNT}/failures?state=exhausted`);
      await page.locator(".problem-row .cell-what").click();
      await page.getByRole("link", { name: FAILED }).click();
      await page.reload();
      await page.getByRole("button", { name: `Replay: ${FAILED}` }).click();
      await page.getByText(`${FAILED} was run now: handled.`).waitFor();
      expect(await test.count("oncehook_records", `event_id = '${FAILED}'`)).toBe(1);
      expect(await test.count("oncehook_audit", "actor = 'operator@shop.example' AND outcome = 'done'")).toBe(1);
      expect(problems).toEqual([]);
    }),
);

it("a viewer of the application sees the failures, and no button that changes one", { timeout: LIMIT_MS }, () =>
  withShop(async ({ page, problems }) => {
    await page.goto("/login?as=viewer");
    await page.goto(`${MOUNT}/problems`);
    await page.getByText("the books are closed").first().waitFor();
    await expectShown(page.getByText("viewer@shop.example, viewer").first());
    expect(await page.getByRole("button", { name: /^Replay|Discard|Dry run/ }).count()).toBe(0);
    expect(problems).toEqual([]);
  }),
);

it(
  "whoever is not signed in to the application is told so, and after a sign-out there the page shows nothing more",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withShop(async ({ page, problems }) => {
      await page.goto(`${MOUNT}/callbacks`);
      await expectShown(page.getByText("The application did not let you in"));
      await page.goto("/login?as=viewer");
      await page.goto(`${MOUNT}/callbacks`);
      await page.getByRole("row", { name: HANDLED }).waitFor();
      const other = await page.context().newPage();
      await other.goto("/logout");
      await page.getByRole("link", { name: /^Problems/ }).click();
      await expectShown(page.getByRole("heading", { name: "No access" }));
      expect(await page.getByText(HANDLED).count()).toBe(0);
      await page.getByRole("button", { name: "Load again" }).click();
      await expectShown(page.getByText("The application did not let you in"));
      expect(problems).toEqual([]);
    }),
);

it(
  "the settings of a receiver in an application have no sign-out, and no check of the server",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withShop(async ({ page, problems }) => {
      await page.goto("/login?as=operator");
      await page.goto(`${MOUNT}/settings`);
      await expectShown(page.getByRole("heading", { name: "Configuration" }));
      await page.getByRole("button", { name: "All", exact: true }).click();
      await expectShown(page.getByRole("cell", { name: /RETRY_MAX$/ }));
      await page.locator(".session").click();
      await expectShown(page.getByRole("menuitem", { name: "Light" }));
      expect(await page.getByRole("menuitem", { name: "Sign out" }).count()).toBe(0);
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Checks" }).click();
      await page.getByRole("button", { name: "Run checks" }).click();
      await page.getByText(/^\d+ checks OK$/).click();
      await expectShown(page.getByRole("cell", { name: "database" }).first());
      expect(await page.getByRole("cell", { name: /^(?:admin access|certificate)$/ }).count()).toBe(0);
      expect(problems).toEqual([]);
    }),
);

it("the server's sign-in and sandbox are unknown addresses of the page", { timeout: LIMIT_MS }, () =>
  withShop(async ({ page }) => {
    await page.goto("/login?as=operator");
    for (const path of ["/sign-in", "/sandbox"]) {
      await page.goto(MOUNT + path);
      await expectShown(page.getByRole("heading", { name: "No such page" }));
    }
  }),
);

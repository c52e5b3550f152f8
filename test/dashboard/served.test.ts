import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Fastify from "fastify";
import { expect, it } from "vitest";
import { registerDashboard, SERVER_PAGE } from "../../src/admin/dashboard-routes.ts";
import { withReceiver } from "../support/receiver.ts";

/** The page as anybody gets it, without a token. */
async function page(origin: string): Promise<{ response: Response; html: string }> {
  const response = await fetch(origin);
  return { response, html: await response.text() };
}

const assetsOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);

it("the page is public, with a nonce of its own for styles and no other host", () =>
  withReceiver("sqlite", async ({ adminOrigin }) => {
    const { response, html } = await page(adminOrigin);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const policy = response.headers.get("content-security-policy") ?? "";
    const [, nonce] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? [];
    expect(html).toContain(`nonce="${nonce}"`);
    expect(html).not.toContain("CSP_NONCE");
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe|http/);
    const again = await page(adminOrigin);
    expect(again.response.headers.get("content-security-policy")).not.toBe(policy);
  }));

it("the page names its font before its texts, which is served as the file that it is", () =>
  withReceiver("sqlite", async ({ adminOrigin }) => {
    const [font = "none"] = assetsOf((await page(adminOrigin)).html).filter((path) => path?.endsWith(".woff2"));
    const response = await fetch(adminOrigin + font, { headers: { "accept-encoding": "br, gzip" } });
    expect(response.headers.get("content-type")).toBe("font/woff2");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(Buffer.from(await response.arrayBuffer()).toString("latin1", 0, 4)).toBe("wOF2");
  }));

it.each([
  ["br, gzip", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["identity", null],
])("files are immutable, compressed as the browser accepts them: %s", (accepted, encoding) =>
  withReceiver("sqlite", async ({ adminOrigin }) => {
    const { html } = await page(adminOrigin);
    const paths = assetsOf(html).filter((path) => !path?.endsWith(".woff2"));
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      const response = await fetch(adminOrigin + path, { headers: { "accept-encoding": accepted } });
      expect([response.status, response.headers.get("content-encoding")]).toEqual([200, encoding]);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("vary")).toBe("accept-encoding");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await response.text()).toBe(readFileSync(`dashboard/dist${path}`, "utf8"));
    }
  }),
);

it("the addresses of pages return the page, and every other one returns 404 as JSON", () =>
  withReceiver("sqlite", async ({ adminOrigin, admin }) => {
    for (const path of [
      "/activity?open=7",
      "/callbacks?status=5xx",
      "/events/platform/evt%2F1",
      "/failures",
      "/problems/0a1b2c3d4e5f",
      "/problems/replays/7",
      "/audit",
      "/sources/platform",
      "/settings",
      "/settings/storage",
      "/sign-in",
    ]) {
      const { response, html } = await page(adminOrigin + path);
      expect([path, response.status, html.includes('id="root"')]).toEqual([path, 200, true]);
    }
    for (const path of ["/call-backs", "/api/v1/call-backs", "/assets/../package.json", "/assets/none.js"]) {
      const { status, body } = await admin(path);
      expect([path, status, body]).toEqual([path, 404, { error: "not found" }]);
    }
  }));

it("a browser at an address that does not exist gets the page with 404, but not below the API", () =>
  withReceiver("sqlite", async ({ adminOrigin }) => {
    const asBrowser = { headers: { accept: "text/html,application/xhtml+xml;q=0.9" } };
    const wrong = await fetch(`${adminOrigin}/call-backs/7`, asBrowser);
    expect([wrong.status, (await wrong.text()).includes('id="root"')]).toEqual([404, true]);
    const ofApi = await fetch(`${adminOrigin}/api/v1/call-backs`, asBrowser);
    expect([ofApi.status, ofApi.headers.get("content-type")]).toEqual([401, "application/json; charset=utf-8"]);
  }));

it("the page shows its data only with the token", () =>
  withReceiver("sqlite", async ({ adminOrigin }) => {
    const response = await fetch(`${adminOrigin}/api/v1/callbacks`);
    expect(response.status).toBe(401);
  }));

it("a page that was not built names the command that builds it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "oncehook-no-dashboard-"));
  const app = Fastify();
  try {
    registerDashboard(app, SERVER_PAGE, pathToFileURL(`${folder}/`));
    const { statusCode, body } = await app.inject("/");
    expect([statusCode, body]).toEqual([503, expect.stringContaining("npm run build:dashboard")]);
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
});

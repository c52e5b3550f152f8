import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack } from "../test/deploy/packed.ts";
import { STRIPE_SECRET, stripeCallback } from "../test/support/application.ts";
import { until } from "../test/support/until.ts";
import { type BuiltApplication, NEXT_JS, STANDALONE, SVELTE_KIT, WITHOUT_PAGE } from "./built-applications.ts";
import { build, install, withServer, writeFiles } from "./built-process.ts";
import { withBuiltScene } from "./built-scene.ts";
import { describeScenarios } from "./describe-framework.ts";
import { paidInvoice } from "./docs/page-application.ts";
import { READ_FIRST } from "./scene-module.ts";

const MINUTES = 60_000;
const CRON_SECRET = "secret-of-the-schedule";

let folder: string;
let archive: string;
let remove = async () => {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-built-"));
  // An archive that is packed already saves its build.
  const packed = process.env.ONCEHOOK_ARCHIVE === undefined ? await pack() : undefined;
  archive = packed?.archive ?? String(process.env.ONCEHOOK_ARCHIVE);
  remove = async () => packed?.remove();
}, 10 * MINUTES);
afterAll(async () => {
  await remove();
  await rm(folder, { recursive: true, force: true });
});

const installing = new Map<BuiltApplication, Promise<string>>();

/** @returns where the application is */
function installedOnce(application: BuiltApplication): Promise<string> {
  const place = join(folder, application.platform.name);
  const installed = installing.get(application) ?? install(application, place, archive).then(() => place);
  installing.set(application, installed);
  return installed;
}

type Expectation = (origin: string) => Promise<void>;

/** The page's receiver handles a callback once, in the application that is built. */
function expectHandled(
  application: Pick<BuiltApplication, "start">,
  place: string,
  further: readonly Expectation[] = [],
): Promise<void> {
  const env = {
    STRIPE_SECRET,
    CRON_SECRET,
    ADMIN_PAGE: "open",
    ONCEHOOK_DATABASE_URL: `sqlite:${place}/events-${Date.now()}.db`,
  };
  return withServer(application.start, place, {
    env,
    async use({ origin }) {
      const send = async ({ body, headers }: ReturnType<typeof stripeCallback>) => {
        const response = await fetch(`${origin}/api/stripe/callback`, { method: "POST", body, headers });
        return [response.status, await response.json()];
      };
      const callback = paidInvoice(STRIPE_SECRET);
      expect(await send(callback)).toEqual([200, { status: "success", data: { invoice: "in_1" } }]);
      expect(await send(callback)).toEqual([200, { status: "already_processed" }]);
      const forged = stripeCallback("evt_forged", "whsec_of_another_account");
      expect(await send(forged)).toEqual([401, { error: "invalid signature" }]);
      for (const expectation of further) await expectation(origin);
    },
  });
}

/** The page's route for a schedule. */
async function expectScheduled(origin: string): Promise<void> {
  expect((await fetch(`${origin}/api/work`)).status).toBe(401);
  const headers = { authorization: `Bearer ${CRON_SECRET}` };
  expect(await (await fetch(`${origin}/api/work`, { headers })).json()).toEqual({ ran: 0, isDone: true });
}

/** The page's route of the page of callbacks, with its files and a callback that it lists. */
async function expectPage(origin: string): Promise<void> {
  const page = await fetch(`${origin}/admin/webhooks`);
  const html = await page.text();
  expect([page.status, html]).toEqual([200, expect.stringContaining("<title>Oncehook")]);
  const script = /src="(\/admin\/webhooks\/assets\/[^"]+)"/.exec(html)?.[1];
  expect((await fetch(origin + script)).status).toBe(200);
  const events = await fetch(`${origin}/admin/webhooks/api/v1/events`);
  expect(await events.text()).toContain("invoice.paid");
}

describe.each([NEXT_JS, SVELTE_KIT])("$platform.name", (application) => {
  const { name } = application.platform;
  let place: string;
  beforeAll(async () => {
    place = await installedOnce(application);
    // Neither a variable nor a database.
    await build(application.build, place);
  }, 8 * MINUTES);

  it(`${name} builds without variables and database, handles the page's callbacks once, and ends at SIGTERM`, () =>
    expectHandled(application, place, application === NEXT_JS ? [expectScheduled, expectPage] : []));

  describeScenarios({
    platform: application.platform,
    withScene: (target, use) => withBuiltScene(application, place, { target, use }),
    behindParser: { fields: READ_FIRST, message: /the body of the Request was read before the receiver/ },
  });
});

describe("Next.js, built in another way", () => {
  it("Next.js builds with webpack too, without a line of configuration, and handles the page's callbacks once", {
    timeout: 8 * MINUTES,
  }, async () => {
    const place = await installedOnce(NEXT_JS);
    await writeFiles(place, WITHOUT_PAGE);
    await build([...NEXT_JS.build, "--webpack"], place);
    await expectHandled(NEXT_JS, place, [expectScheduled]);
  });

  it("Next.js handles the page's callbacks once in a copy of its standalone folder", {
    timeout: 8 * MINUTES,
  }, async () => {
    const place = await installedOnce(NEXT_JS);
    await writeFiles(place, STANDALONE);
    await build(NEXT_JS.build, place);
    const copy = join(folder, "standalone");
    await cp(join(place, ".next/standalone"), copy, { recursive: true, verbatimSymlinks: true });
    const variables = (port: number) => ({ PORT: String(port), HOSTNAME: "127.0.0.1" });
    const start = (port: number) => ({ args: ["server.js"], variables: variables(port) });
    await expectHandled({ start }, copy, [expectScheduled, expectPage]);
  });
});

describe("SvelteKit in development", () => {
  it("vite dev handles a callback by a handler that has changed, in a receiver that takes the earlier one's place", {
    timeout: 8 * MINUTES,
  }, async () => {
    const place = await installedOnce(SVELTE_KIT);
    const path = "handlers/invoice-paid.ts";
    const handler = SVELTE_KIT.files[path] ?? "";
    await writeFiles(place, { [path]: handler.replace("return { invoice: id };", 'throw new Error("a mistake");') });
    const start = (port: number) => ({
      args: ["node_modules/vite/bin/vite.js", "dev", "--host", "127.0.0.1", "--port", String(port)],
    });
    const env = { STRIPE_SECRET, ONCEHOOK_DATABASE_URL: `sqlite:${place}/development.db` };
    await withServer(start, place, {
      env,
      async use({ origin }) {
        const { body, headers } = paidInvoice(STRIPE_SECRET);
        const send = async () => {
          const response = await fetch(`${origin}/api/stripe/callback`, { method: "POST", body, headers });
          return response.status;
        };
        expect(await send()).toBe(500);
        await writeFiles(place, { [path]: handler });
        await until(async () => (await send()) === 200, MINUTES);
      },
    });
  });
});

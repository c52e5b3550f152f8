import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { github, stripe } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { databaseFile, describeFullOnPostgres, type Target, withMigrated } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { withFolder } from "../support/folder.ts";
import { withHttpServer } from "../support/http-server.ts";
import { githubApi, type PlatformApi, stripeApi } from "../support/platform-api.ts";
import { startReceiver, type TestReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const SECRET = "whsec_0123456789abcdef";
const KEY = "sk_live_do_not_log_me_0123";
const SECONDS = Math.floor(Date.now() / 1_000);
const source = (file: string) => pathToFileURL(join(process.cwd(), file)).href;

let made = 0;
/** An event of ten minutes ago. */
function stripeEvent(over: object = {}) {
  made += 1;
  const created = SECONDS - 600 - made;
  return {
    id: `evt_${made}`,
    object: "event",
    type: "invoice.paid",
    created,
    data: { object: { n: made } },
    ...over,
  };
}

interface Platform {
  readonly apiUrl: string;
  readonly target: Target;
  /** Runs `oncehook reconcile` on the database. */
  reconcile(...args: string[]): ReturnType<typeof runCommandLine>;
}

/** Lends the API, a database and the command, whose configuration has the sources `stripe` and `github`. */
function withPlatform<T>(
  dialect: Target["dialect"],
  api: PlatformApi,
  use: (platform: Platform) => Promise<T>,
): Promise<T> {
  return withHttpServer(api.answer, (apiUrl) =>
    withMigrated(dialect, (target) =>
      withFolder((folder) => {
        const options = { apiKey: KEY, apiUrl };
        const hook = { ...options, repository: "octo/cat", hook: 42 };
        writeFileSync(
          join(folder, "oncehook.config.ts"),
          `import { defineConfig, defineHandler } from ${JSON.stringify(source("src/index.ts"))};
import { github, stripe } from ${JSON.stringify(source("src/sources/platforms/index.ts"))};
import { z } from ${JSON.stringify(source("node_modules/zod/index.js"))};
const handler = (source: string, type: string) =>
  defineHandler({ source, type, data: z.looseObject({}), handle: () => ({}) });
export default defineConfig({
  sources: {
    stripe: stripe({ secret: "${SECRET}", reconcile: ${JSON.stringify(options)} }),
    github: github({ secret: "${SECRET}", reconcile: ${JSON.stringify(hook)} }),
    plain: stripe({ secret: "${SECRET}" }),
  },
  handlers: [handler("stripe", "invoice.paid"), handler("stripe", "invoice.failing"), handler("github", "push")],
});
`,
        );
        const env = { ...CHILD_ENVIRONMENT, DATABASE_URL: target.url };
        const reconcile = (...args: string[]) => runCommandLine(["reconcile", ...args], env, folder);
        return use({ apiUrl, target, reconcile });
      }),
    ),
  );
}

/** A receiver whose handlers note the ids that they have handled. */
async function withServing<T>(
  { target }: Platform,
  use: (receiver: TestReceiver, handled: string[]) => Promise<T>,
): Promise<T> {
  const handled: string[] = [];
  const handler = (from: string, type: string) =>
    defineHandler({
      source: from,
      type,
      data: z.looseObject({}),
      handle({ event }) {
        if (type === "invoice.failing") throw new Error("the stock service is down");
        handled.push(event.event_id);
        return {};
      },
    });
  const receiver = await startReceiver(target, {
    sources: { stripe: stripe({ secret: SECRET }), github: github({ secret: SECRET }) },
    handlers: [handler("stripe", "invoice.paid"), handler("stripe", "invoice.failing"), handler("github", "push")],
    retryPollMs: 20,
  });
  try {
    return await use(receiver, handled);
  } finally {
    await receiver.stop();
  }
}

async function deliver({ publicOrigin }: TestReceiver, event: object): Promise<unknown> {
  const body = Buffer.from(JSON.stringify(event, null, 2));
  const signed = stripe({ secret: SECRET }).sign?.({ body, now: new Date() });
  const url = `${publicOrigin}/api/stripe/callback`;
  const response = await fetch(url, { method: "POST", body, headers: { ...signed } });
  return response.json();
}

describeFullOnPostgres("oncehook reconcile on %s", (dialect) => {
  it("the running receiver handles a missing event, and not one that arrived", () => {
    const [arrived, missing, other] = [stripeEvent(), stripeEvent(), stripeEvent({ type: "price.created" })];
    return withPlatform(dialect, stripeApi([arrived, missing, other]), (platform) =>
      withServing(platform, async (receiver, handled) => {
        await deliver(receiver, arrived);
        const { code, stdout } = await platform.reconcile("stripe", "--since", "2d");
        expect(stdout).toMatch(new RegExp(`${missing.id}\\s+invoice.paid\\s+\\S+Z\\s+handled`));
        expect(stdout).toContain(
          "1 event missing (made durable for the receiver); 1 arrived already, 1 have no handler",
        );
        expect(code).toBe(0);
        expect(handled).toEqual([arrived.id, missing.id]);
      }),
    );
  });

  it("a second run accepts nothing", () => {
    const missing = stripeEvent();
    return withPlatform(dialect, stripeApi([missing]), (platform) =>
      withServing(platform, async (_receiver, handled) => {
        await platform.reconcile("stripe");
        const { code, stdout } = await platform.reconcile("stripe");
        expect(stdout).toContain("0 events missing (made durable for the receiver); 1 arrived already");
        expect(code).toBe(0);
        expect(handled).toEqual([missing.id]);
      }),
    );
  });

  it("a dry run changes nothing and prints what is missing, as JSON too", () => {
    const missing = stripeEvent();
    return withPlatform(dialect, stripeApi([missing]), async (platform) => {
      if (dialect === "sqlite") {
        await rm(databaseFile(platform.target));
        expect(await platform.reconcile("stripe", "--dry-run")).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("the database is not there yet, and a dry run changes nothing"),
        });
      }
      await withServing(platform, async (_receiver, handled) => {
        const text = await platform.reconcile("stripe", "--dry-run");
        expect(text.stdout).toMatch(new RegExp(`${missing.id}\\s+invoice.paid\\s+\\S+Z\\s+missing; would be handled`));
        const { code, stdout } = await platform.reconcile("stripe", "--dry-run", "--json");
        expect(code).toBe(0);
        expect(JSON.parse(stdout)).toMatchObject({
          events: [{ id: missing.id, type: "invoice.paid", outcome: "missing" }],
          isComplete: true,
        });
        expect(handled).toEqual([]);
        expect(await rowsOf(platform.target, "SELECT * FROM oncehook_failures")).toEqual([]);
      });
    });
  });

  it("an event whose handler fails is retried, and the exit code is 1", () => {
    const missing = stripeEvent({ type: "invoice.failing" });
    return withPlatform(dialect, stripeApi([missing]), (platform) =>
      withServing(platform, async () => {
        const { code, stdout } = await platform.reconcile("stripe");
        expect(stdout).toContain("failed; it is retried");
        expect(code).toBe(1);
        const rows = await rowsOf(platform.target, "SELECT event_id, state, code FROM oncehook_failures");
        expect(rows).toEqual([{ event_id: missing.id, state: "waiting", code: "handler_failed" }]);
      }),
    );
  });

  it("an event that no receiver has run is durable, and the exit code is 1", () => {
    const missing = stripeEvent();
    return withPlatform(dialect, stripeApi([missing]), async (platform) => {
      const { code, stdout } = await platform.reconcile("stripe", "--wait", "0");
      expect(stdout).toContain("durable; no receiver has run it yet");
      expect(code).toBe(1);
      await withServing(platform, async (_receiver, handled) => {
        await expect.poll(() => handled).toEqual([missing.id]);
      });
    });
  });

  it("a run that the platform cuts off keeps its events, and the next run accepts the others", () => {
    const [newer, older] = [stripeEvent(), stripeEvent()];
    const api = stripeApi([newer, older], 1);
    api.interfere = ({ url }, _count, response) => {
      if (!url.searchParams.has("starting_after")) return false;
      response.writeHead(400).end();
      return true;
    };
    return withPlatform(dialect, api, (platform) =>
      withServing(platform, async (_receiver, handled) => {
        const { code, stdout } = await platform.reconcile("stripe");
        expect(stdout).toMatch(/Incomplete: GET \/v1\/events of \S+ returned 400/);
        expect(code).toBe(1);
        expect(handled).toEqual([newer.id]);
        api.interfere = undefined;
        expect((await platform.reconcile("stripe")).code).toBe(0);
        expect(handled).toEqual([newer.id, older.id]);
      }),
    );
  });

  it("a run that the platform refuses at once says that nothing was checked", () => {
    const api = stripeApi([stripeEvent()], 1);
    api.interfere = (_request, _count, response) => {
      response.writeHead(400).end();
      return true;
    };
    return withPlatform(dialect, api, async (platform) => {
      await withServing(platform, async () => {});
      const { code, stdout } = await platform.reconcile("stripe", "--dry-run");
      expect(stdout).toMatch(/^stripe: nothing was checked: GET \/v1\/events of \S+ returned 400/);
      expect(code).toBe(1);
    });
  });

  it("a run that asks for older events than the platform lists says from when it checked", () =>
    withPlatform(dialect, stripeApi([stripeEvent()]), async (platform) => {
      await withServing(platform, async () => {});
      const { stdout } = await platform.reconcile("stripe", "--since", "40d", "--dry-run");
      expect(stdout).toMatch(/^--since 40d: stripe lists no events that old; checked from \S+Z\n/);
      expect((await platform.reconcile("stripe", "--since", "2d", "--dry-run")).stdout).not.toContain("--since");
    }));

  it("a run that reaches --max-pages has the exit code 1", () =>
    withPlatform(dialect, stripeApi([stripeEvent(), stripeEvent()], 1), async (platform) => {
      await withServing(platform, async () => {});
      const { code, stdout } = await platform.reconcile("stripe", "--max-pages", "1", "--dry-run");
      expect(stdout).toContain("1 pages were read; older events were not checked");
      expect(code).toBe(1);
    }));

  it("a later callback of a reconciled event is a duplicate, whatever its spacing", () => {
    const missing = stripeEvent();
    return withPlatform(dialect, stripeApi([missing]), (platform) =>
      withServing(platform, async (receiver, handled) => {
        await platform.reconcile("stripe");
        expect(await deliver(receiver, missing)).toMatchObject({ status: "already_processed" });
        expect(handled).toEqual([missing.id]);
        const metrics = await (await fetch(`${receiver.adminOrigin}/metrics`)).text();
        expect(metrics).toContain('oncehook_body_mismatch_total{source="stripe"} 0');
      }),
    );
  });

  it("the callback log says where a reconciled event came from, without the key", () => {
    const missing = stripeEvent({ data: { object: { note: KEY } } });
    return withPlatform(dialect, stripeApi([missing]), async (platform) => {
      const { stdout } = await platform.reconcile("stripe", "--wait", "0");
      const rows = await rowsOf(platform.target, "SELECT * FROM oncehook_callbacks");
      expect(rows).toMatchObject([
        {
          ...{ event_id: missing.id, event_type: "invoice.paid", source: "stripe", outcome: "accepted" },
          ...{ method: "RECONCILE", url: `${platform.apiUrl}/v1/events` },
        },
      ]);
      expect(JSON.stringify(rows) + stdout).not.toContain(KEY);
    });
  });

  it("a failed delivery of GitHub is handled under the id and with the bytes of its callback", () => {
    const payload = { ref: "refs/heads/main", number: 1 };
    const digest = (algorithm: string) => createHmac(algorithm, SECRET).update(JSON.stringify(payload)).digest("hex");
    const delivered_at = new Date((SECONDS - 900) * 1_000).toISOString();
    const delivery = { id: 7, guid: "guid-7", event: "push", delivered_at, status: "timed out", payload };
    const signature = `sha256=${digest("sha256")}`;
    return withPlatform(dialect, githubApi([{ ...delivery, signature }]), (platform) =>
      withServing(platform, async ({ publicOrigin }, handled) => {
        expect((await platform.reconcile("github")).code).toBe(0);
        expect(handled).toEqual(["guid-7"]);
        const send = (guid: string) =>
          fetch(`${publicOrigin}/api/github/callback`, {
            method: "POST",
            body: JSON.stringify(payload),
            headers: {
              "x-github-delivery": guid,
              "x-github-event": "push",
              "x-hub-signature-256": signature,
            },
          }).then((response) => response.json());
        expect(await send("guid-7")).toMatchObject({ status: "already_processed" });
        expect(handled).toEqual(["guid-7"]);
      }),
    );
  });

  it("an event whose body has another id than the list is not accepted", () => {
    const delivered_at = new Date((SECONDS - 900) * 1_000).toISOString();
    const delivery = { id: 7, guid: "guid-7", event: "push", delivered_at, status: "timed out", payload: {} };
    const api = githubApi([delivery]);
    api.interfere = ({ url }, _count, response) => {
      if (!url.pathname.endsWith("/7")) return false;
      const headers = { "X-GitHub-Delivery": "another", "X-GitHub-Event": "push" };
      response.end(JSON.stringify({ request: { headers, payload: {} } }));
      return true;
    };
    return withPlatform(dialect, api, async (platform) => {
      const { code, stdout } = await platform.reconcile("github", "--wait", "0");
      expect(stdout).toContain('cannot be accepted: its body has the id "another"');
      expect(code).toBe(1);
      expect(await rowsOf(platform.target, "SELECT * FROM oncehook_failures")).toEqual([]);
    });
  });
});

describe("oncehook reconcile", () => {
  it.each([
    ["unknown", 'there is no source "unknown" with `reconcile` in oncehook.config.ts; these have it: stripe, github'],
    ["plain", "the source plain has no `reconcile` in oncehook.config.ts"],
  ])("the source %s, which cannot be reconciled, is answered with those that can", (name, message) =>
    withPlatform("sqlite", stripeApi([]), async (platform) => {
      const { code, stderr } = await platform.reconcile(name);
      expect(stderr).toContain(message);
      expect(code).toBe(1);
    }),
  );

  it.each([[["--since", "soon"]], [["--until", "2d"]], [["--since", "5m"]], [["--max-pages", "0"]]])(
    "the options %j have the exit code 2",
    (args) =>
      withPlatform("sqlite", stripeApi([]), async (platform) => {
        expect((await platform.reconcile("stripe", ...args)).code).toBe(2);
      }),
  );
});

import { describe, expect, it } from "vitest";
import { createReceiver, type Receiver } from "../../src/embed/index.ts";
import { stripe, twilio } from "../../src/sources/platforms/index.ts";
import {
  CALLBACK_PATH,
  paid,
  requestOf,
  STRIPE_SECRET,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../support/application.ts";
import { databaseFile, describeFullOnPostgres, withDatabase, withMigrated } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { failFlushes } from "../support/fail-flushes.ts";
import type { Target } from "../support/open-target.ts";

const send = (receiver: Receiver, callback = stripeCallback()) => receiver.fetch(requestOf(callback));
const onSqlite = (use: (target: Target) => Promise<void>) => withDatabase("sqlite", use);
const billing = () => stripe({ secret: STRIPE_SECRET });

describeFullOnPostgres("a receiver in an application, on %s", (dialect) => {
  it("a signed callback is handled once, whether it comes again or 64 times at once", () =>
    withMigrated(dialect, async (target) => {
      const runs: string[] = [];
      const file = { handlers: [paid((id) => runs.push(id))] };
      await withApplication(
        target,
        async ({ receiver }) => {
          const callback = stripeCallback();
          const first = await send(receiver, callback);
          expect([first.status, await first.json()]).toEqual([200, { status: "success", data: { id: callback.id } }]);
          expect(await (await send(receiver, callback)).json()).toEqual({ status: "already_processed" });
          const other = stripeCallback();
          const answers = await Promise.all(Array.from({ length: 64 }, () => send(receiver, other)));
          const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { status: string }[];
          const count = (kind: string) => bodies.filter(({ status }) => status === kind).length;
          expect([count("success"), count("already_processed")]).toEqual([1, 63]);
          expect(runs).toEqual([callback.id, other.id]);
        },
        { file },
      );
    }));

  it("work() retries what failed, and says whether all that is due is done", () =>
    withMigrated(dialect, async (target) => {
      let isDown = true;
      const fails = paid(() => {
        if (isDown) throw new Error("down");
      });
      const source = stripe({ secret: STRIPE_SECRET, retry: { for: "1h", first: "1s" } });
      const use = async ({ receiver }: { receiver: Receiver }) => {
        const callback = stripeCallback();
        expect((await send(receiver, callback)).status).toBe(500);
        isDown = false;
        await execute(target, `UPDATE oncehook_failures SET next_attempt_at = '${new Date(0).toISOString()}'`);
        expect(await receiver.work({ budgetMs: 5_000 })).toEqual({ ran: 1, isDone: true });
        expect(await (await send(receiver, callback)).json()).toEqual({ status: "already_processed" });
        expect(await countOf(target, "oncehook_failures")).toBe(0);
      };
      await withApplication(target, use, {
        background: "none",
        file: { handlers: [fails], sources: { billing: source } },
      });
    }));
});

describe("a receiver in an application", () => {
  it("a forged callback is refused with the least detail", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        const answer = await send(receiver, stripeCallback("evt_forged", "whsec_of_somebody_else"));
        expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid signature" }]);
      }),
    ));

  it("other addresses are left to the application, and nothing is opened for them", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        expect((await receiver.fetch(new Request("https://app.example/orders"))).status).toBe(404);
        await expect(countOf(target, "oncehook_callbacks")).rejects.toThrow();
      }),
    ));

  it("nothing is opened before the first use", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        await expect(countOf(target, "oncehook_records")).rejects.toThrow();
        await receiver.ready();
        expect(await countOf(target, "oncehook_records")).toBe(0);
      }),
    ));

  it("a callback gets 503 while the database cannot be opened, and the next one tries again", () =>
    onSqlite(async (target) => {
      await withApplication(target, ({ receiver }) => receiver.ready());
      const broken = { url: `${target.url}/a-file-is-no-folder.db` };
      await withApplication(broken, async ({ receiver, lines }) => {
        for (let attempt = 1; attempt <= 2; attempt += 1) {
          const answer = await send(receiver);
          expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
          const told = lines.filter(({ msg }) => String(msg).includes("could not be opened"));
          expect(told).toHaveLength(attempt);
        }
        await expect(receiver.ready()).rejects.toThrow("DATABASE_URL");
      });
    }));

  it("ready() and work() reject once the disk has not taken a flush, and the log says once that a restart is needed", () =>
    onSqlite((target) =>
      withApplication(
        target,
        async ({ receiver, lines }) => {
          await receiver.ready();
          const mend = await failFlushes(databaseFile(target));
          try {
            for (let attempt = 1; attempt <= 2; attempt += 1) expect((await send(receiver)).status).toBe(503);
          } finally {
            mend();
          }
          await expect(receiver.ready()).rejects.toThrow("flush of the WAL failed; check the disk and restart");
          await expect(receiver.work()).rejects.toThrow("flush of the WAL failed");
          const reports = lines.filter(({ msg }) => String(msg).includes("restart this process"));
          expect(reports.map(({ level }) => level)).toEqual(["error"]);
        },
        { background: "none" },
      ),
    ));

  it("a second receiver of an SQLite file leaves the leases of the first, and the next one after both ends them", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver: first }) => {
        const failing = paid(() => {
          throw new Error("down");
        });
        const far = new Date(Date.now() + 60_000).toISOString();
        await first.ready();
        await withApplication(
          target,
          async ({ receiver: second }) => {
            expect((await send(second)).status).toBe(500);
          },
          { background: "none", file: { handlers: [failing] } },
        );
        await execute(target, `UPDATE oncehook_failures SET lease_owner = 'first', leased_until = '${far}'`);
        const leased = () => countOf(target, "oncehook_failures", `leased_until = '${far}'`);
        await withApplication(target, ({ receiver }) => receiver.ready(), { background: "none" });
        expect(await leased()).toBe(1);
        await first.close();
        await withApplication(target, ({ receiver }) => receiver.ready(), { background: "none" });
        expect(await leased()).toBe(0);
      }),
    ));

  it("a budget of work() that no timer can hold is refused by its name", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        for (const budgetMs of [Number.POSITIVE_INFINITY, Number.NaN, 2 ** 31])
          await expect(receiver.work({ budgetMs })).rejects.toThrow(
            `work: budgetMs is ${budgetMs}; expected milliseconds up to 2147483647`,
          );
      }),
    ));

  it("a body that something has read gets 500, with the remedy in the log only", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver, lines }) => {
        const request = requestOf(stripeCallback());
        await request.json();
        const answer = await receiver.fetch(request);
        expect([answer.status, await answer.json()]).toEqual([500, { error: "internal error" }]);
        const errors = lines.filter(({ level }) => level === "error").map(({ msg }) => msg);
        expect(errors).toContainEqual(expect.stringContaining("c.req.raw"));
      }),
    ));

  it("a body that does not arrive in time gets 408", () =>
    onSqlite((target) =>
      withApplication(
        target,
        async ({ receiver }) => {
          const endless = new ReadableStream({ pull: () => new Promise(() => {}) });
          const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;
          const answer = await receiver.fetch(new Request(`https://app.example${CALLBACK_PATH}`, init));
          expect(answer.status).toBe(408);
        },
        { variables: { ...VARIABLES, REQUEST_TIMEOUT_MS: "300", HANDLER_TIMEOUT_MS: "100" } },
      ),
    ));

  it("a configuration is refused with every problem at once, by the names that were given", () => {
    const sources = { billing: billing() };
    const wrong = () => createReceiver({ sources, handler: [] } as never, { databse: "x", variables: {} } as never);
    expect(wrong).toThrow(/databse: no such option; did you mean database\?/);
    expect(wrong).toThrow(/database: is not set; give createReceiver a database/);
    expect(wrong).toThrow(/handler: no such key; did you mean handlers\?/);
    const other = { database: "mysql://x", variables: VARIABLES };
    expect(() => createReceiver({ sources }, other)).toThrow(/^database: got/);
    const server = { database: "sqlite:x.db", variables: { ...VARIABLES, PORT: "8080" } };
    expect(() => createReceiver({ sources }, server)).toThrow(/^PORT: is of the oncehook server/);
  });

  it("a source that signs its address is refused without baseUrl, by its name and that of the option", () => {
    const calls = twilio({ secret: "a-token-of-an-account-of-twilio-1" });
    const options = { database: "sqlite:x.db", variables: VARIABLES };
    const needed = /sources\.calls: Twilio signs the address .*set baseUrl/;
    expect(() => createReceiver({ sources: { calls } }, options)).toThrow(needed);
    expect(() =>
      createReceiver({ sources: { calls } }, { ...options, baseUrl: "https://a.example/hooks" }),
    ).not.toThrow();
  });

  it("presets of SOURCES are refused: an application names its sources in its code", () => {
    const variables = { ...VARIABLES, SOURCES: "stripe", STRIPE_SECRET };
    expect(() => createReceiver({}, { database: "sqlite:x.db", variables })).toThrow(
      /SOURCES: is of the oncehook server.*createReceiver\(\{ sources \}\)/,
    );
  });

  it("OAuth without an address of the application is refused", () => {
    const variables = {
      ...VARIABLES,
      ...{
        OAUTH_ISSUER: "https://id.example",
        OAUTH_CLIENT_ID: "c",
        OAUTH_CLIENT_SECRET: "a secret of a client, 32 bytes 01",
      },
    };
    const create = (baseUrl?: string) => () =>
      createReceiver(
        { sources: { billing: billing() } },
        { database: "sqlite:x.db", variables, ...(baseUrl !== undefined && { baseUrl }) },
      );
    expect(create()).toThrow(/OAUTH_REDIRECT_URI: is not set, and neither is CALLBACK_BASE_URL/);
    expect(create("https://a.example")).not.toThrow();
  });

  it("a variable that does not begin with ONCEHOOK_ is not read", () => {
    const given = { ENCRYPTION_KEY: "app", SMTP_URL: "mailhog:1025", LOG_LEVEL: "verbose", PORT: "x" };
    const before = { ...process.env };
    Object.assign(process.env, given, { DATABASE_URL: "mysql://app", ONCEHOOK_DATABASE_URL: "sqlite:x.db" });
    try {
      expect(() => createReceiver({ sources: { billing: billing() } })).toThrow(/^ONCEHOOK_ENCRYPTION_KEY: is not set/);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  it("a closed receiver answers 503", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        await receiver.ready();
        await receiver.close();
        expect((await send(receiver)).status).toBe(503);
      }),
    ));
});

describe("the admin API of a receiver in an application", () => {
  it("the admin API answers whom the application lets in, and is closed without admin.authorize", () =>
    onSqlite(async (target) => {
      const ask = async ({ receiver }: { receiver: Receiver }) => {
        const request = new Request("https://app.example/hooks/api/v1/failures", { headers: { "x-user": "ada" } });
        return (await receiver.admin.fetch(request, { basePath: "/hooks" })).status;
      };
      const admin = { authorize: (request: Request) => (request.headers.has("x-user") ? "viewer" : null) } as const;
      await withApplication(target, async (application) => expect(await ask(application)).toBe(200), { admin });
      await withApplication(target, async (application) => expect(await ask(application)).toBe(404));
    }));
});

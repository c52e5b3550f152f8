import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkOAuth } from "../../src/doctor/run-doctor.ts";
import { defineHandler, Rejected } from "../../src/index.ts";
import { execute } from "../support/execute.ts";
import { withLock } from "../support/held-lock.ts";
import { type TestReceiver, testConfig, withReceiver } from "../support/receiver.ts";

const CLIENT = {
  OAUTH_CLIENT_ID: "us",
  OAUTH_CLIENT_SECRET: "secret-of-ours",
  OAUTH_AUTHORIZATION_URL: "https://p.example/a",
  OAUTH_TOKEN_URL: "https://p.example/t",
};
const STATE = "state-of-at-least-128-bits";

async function expectState(receiver: TestReceiver): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ state: STATE });
  const answer = await receiver.admin("/api/v1/oauth/states", { method: "POST", headers, body });
  expect(answer.status).toBe(201);
}

async function statusOf({ publicOrigin }: TestReceiver, parameters: Record<string, string>): Promise<number> {
  const query = new URLSearchParams({ state: STATE, ...parameters });
  return (await fetch(`${publicOrigin}/api/platform/oauth-callback?${query}`)).status;
}

/** From now on no row of this table can be changed. */
const freeze = ({ target }: TestReceiver, table: string, operation: "UPDATE" | "DELETE") =>
  execute(
    target,
    `CREATE TRIGGER frozen_${operation} BEFORE ${operation} ON ${table}
     BEGIN SELECT RAISE(ABORT, 'frozen'); END`,
  );

const warning = (words: string) => expect.objectContaining({ level: 40, msg: expect.stringContaining(words) });

describe("the OAuth redirect beside a database in trouble", () => {
  it("a redirect with the platform's refusal is answered although its state cannot be marked as used", () =>
    withReceiver("sqlite", async (receiver) => {
      await expectState(receiver);
      for (const operation of ["UPDATE", "DELETE"] as const)
        await freeze(receiver, "oncehook_redirect_states", operation);
      expect(await statusOf(receiver, { error: "access_denied" })).toBe(400);
      expect(receiver.lines).toContainEqual(warning("a used OAuth state could not be marked as spent"));
    }));

  it("a redirect with a refused code is answered although its earlier failure cannot be removed", () => {
    let isDown = true;
    const refusing = defineHandler({
      type: "user_authorized",
      data: z.object({ code: z.string() }),
      handle: () => {
        if (isDown) throw new Error("down");
        throw new Rejected("the code is spent");
      },
    });
    return withReceiver(
      "sqlite",
      async (receiver) => {
        await expectState(receiver);
        expect(await statusOf(receiver, { code: "c1" })).toBe(500);
        await freeze(receiver, "oncehook_failures", "UPDATE");
        isDown = false;
        expect(await statusOf(receiver, { code: "c1" })).toBe(400);
        expect(receiver.lines).toContainEqual(warning("the failure of a refused code could not be removed"));
      },
      { handlers: [refusing], env: { HANDLERS: "none" } },
    );
  });

  it("a redirect whose state look-up waits for a lock returns 503 at the request's deadline", { tags: "full" }, () =>
    withReceiver(
      "postgres",
      async (receiver) => {
        await expectState(receiver);
        await withLock(receiver.target, "LOCK TABLE oncehook_redirect_states", async () => {
          const start = performance.now();
          expect(await statusOf(receiver, { code: "c1" })).toBe(503);
          expect(performance.now() - start).toBeLessThan(4_000);
        });
        expect(await statusOf(receiver, { code: "c1" })).toBe(200);
      },
      { env: { REQUEST_TIMEOUT_MS: "1000", HANDLER_TIMEOUT_MS: "900" } },
    ),
  );
});

describe("errors that unsigned requests cause", () => {
  const OIDC = {
    ADMIN_BASE_URL: "http://127.0.0.1:9090",
    ADMIN_OIDC_ISSUER: "http://127.0.0.1:1",
    ADMIN_OIDC_CLIENT_ID: "us",
    ADMIN_OIDC_CLIENT_SECRET: "another-secret-of-ours",
    ADMIN_OIDC_OPERATORS: "ada@example.com",
  };
  const env = {
    ...OIDC,
    OAUTH_ISSUER: "http://127.0.0.1:1",
    OAUTH_CLIENT_ID: "us",
    OAUTH_CLIENT_SECRET: "secret-of-ours",
  };
  const timesAtOnce = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, ask));

  it("errors that an unauthenticated sender can cause are logged once a minute, for discovery, sign-in and sessions", () =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin, adminOrigin, target, lines }) => {
        const port = new URL(adminOrigin).port;
        const cookie = `oncehook-session-${port}=${"A".repeat(43)}`;
        const statusesOf = async (url: string, headers: Record<string, string> = {}) => {
          const asked = () => fetch(url, { headers, redirect: "manual" }).then(({ status }) => status);
          return new Set(await timesAtOnce(asked));
        };
        await execute(target, "ALTER TABLE oncehook_sessions RENAME TO gone");
        const start = await statusesOf(`${publicOrigin}/api/platform/oauth-start`);
        const signIn = await statusesOf(`${adminOrigin}/sign-in/oidc`);
        const session = await statusesOf(`${adminOrigin}/api/v1/failures`, { cookie });
        await execute(target, "ALTER TABLE gone RENAME TO oncehook_sessions");
        expect([...start, ...signIn, ...session].every((status) => status >= 500)).toBe(true);
        const errors = lines.filter(({ level, err }) => level === 50 && err !== undefined);
        expect(errors.map(({ msg }) => msg)).toEqual([
          "an OAuth flow could not be started",
          "OpenID Connect sign-in failed: the provider did not respond",
          "an admin request failed",
        ]);
      },
      { env },
    ));
});

describe("the start of an OAuth flow without a handler for user_authorized", () => {
  it("a flow without a handler is refused before the user consents, with the remedy, as JSON and as a page", () =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin }) => {
        const start = (accept: string) =>
          fetch(`${publicOrigin}/api/platform/oauth-start`, { redirect: "manual", headers: { accept } });
        const answer = await start("application/json");
        const error = expect.stringContaining("HANDLERS=user_authorized");
        expect([answer.status, await answer.json()]).toEqual([404, { error }]);
        const page = await start("text/html");
        expect([page.status, await page.text()]).toEqual([404, error]);
      },
      { env: { HANDLERS: "payment_notify" } },
    ));

  it.each([
    ["payment_notify", {}, "ok"],
    ["payment_notify", CLIENT, "warning"],
  ])("doctor names the missing handler with HANDLERS=%s and %j", async (HANDLERS, env, level) => {
    const config = testConfig({ dialect: "sqlite", url: "sqlite:./none.db" }, { HANDLERS, ...env });
    const named = { level, message: expect.stringContaining("no handler receives user_authorized") };
    expect(await checkOAuth(config, [])).toContainEqual(expect.objectContaining(named));
    const own = defineHandler({ type: "user_authorized", data: z.object({}), handle: () => ({}) });
    expect(await checkOAuth(config, [own])).not.toContainEqual(expect.objectContaining(named));
  });
});

import { describe, expect, it } from "vitest";
import { type Target, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { freePort } from "../support/free-port.ts";
import { withLock } from "../support/held-lock.ts";
import { flowEnv } from "../support/oauth-flow.ts";
import { type OidcPlatform, withOidcPlatform } from "../support/oidc-platform.ts";
import { type ServerProcess, startServer } from "../support/process.ts";
import { until } from "../support/until.ts";
import { UserAgent } from "../support/user-agent.ts";

/** Short, so that the lease of a process that died ends soon: the limit, and ten seconds. */
const LIMITS = { HANDLER_TIMEOUT_MS: "2000", REQUEST_TIMEOUT_MS: "4000", RETRY_DELAY_SECONDS: "3600" };
const json = { headers: { accept: "application/json" } };

interface Crash {
  readonly target: Target;
  readonly platform: OidcPlatform;
  readonly agent: UserAgent;
  readonly back: string;
  readonly server: ServerProcess;
  /** Starts another process in place of the one that was killed. */
  restart(): Promise<ServerProcess>;
  /** Starts another process beside the first. */
  join(): Promise<ServerProcess>;
}

/** A browser that has signed in at the platform and is about to come back to a process of its own. */
async function withArrival(use: (crash: Crash) => Promise<void>): Promise<void> {
  const port = await freePort();
  const redirectUri = `http://localhost:${port}/api/platform/oauth-callback`;
  await withOidcPlatform({ redirectUris: [redirectUri] }, (platform) =>
    withDatabase("postgres", async (target) => {
      const env = { ...flowEnv(port, platform.issuer), ...LIMITS };
      const limits = { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off" };
      const start = async (over: Record<string, string> = {}) => {
        const server = await startServer(target, { ...env, ...limits, ...over });
        servers.push(server);
        return server;
      };
      const servers: ServerProcess[] = [];
      const first = await start();
      const agent = new UserAgent();
      const back = await agent.authorize(`http://localhost:${port}/api/platform/oauth-start`, redirectUri);
      try {
        await use({
          target,
          platform,
          agent,
          back,
          server: first,
          restart: start,
          join: async () => start({ PORT: String(await freePort()) }),
        });
      } finally {
        for (const { child, ended } of servers) {
          child.kill("SIGKILL");
          await ended;
        }
      }
    }),
  );
}

async function kill({ child, ended }: ServerProcess): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}

/** Comes back again and again, as a user would who reloads the page. */
async function comeBack({ agent, back }: Crash): Promise<unknown> {
  let answer: Response | undefined;
  await until(async () => {
    answer = await agent.request(back, json);
    return answer.status === 200;
  }, 40_000);
  return answer?.json();
}

const SIGNED_IN = { status: "success", data: { user_id: "ada" } };
const prepared = (target: Target) => countOf(target, "oncehook_preparations", "encrypted_result IS NOT NULL");

async function oneUserOneExchange({ target, platform }: Crash): Promise<void> {
  expect(platform.grants.authorization_code).toBe(1);
  expect(platform.grants.refused).toBe(0);
  expect(await rowsOf(target, "SELECT user_id FROM users")).toEqual([{ user_id: "ada" }]);
  expect(await countOf(target, "oncehook_records")).toBe(1);
}

describe("two processes on one PostgreSQL", () => {
  it(
    "two processes exchange the code once although the redirect comes five times at once",
    () =>
      withArrival(async (crash) => {
        const { agent, back, platform, target } = crash;
        const other = await crash.join();
        const elsewhere = new URL(back);
        elsewhere.port = new URL(other.url).port;
        agent.share(new URL(back).host, elsewhere.host);
        const addresses = [back, elsewhere.href, back, elsewhere.href, back];
        const answers = await Promise.all(addresses.map((url) => agent.request(url, json)));
        expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(Array(5).fill(SIGNED_IN));
        expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 0, refused: 0 });
        expect(await countOf(target, "oncehook_records")).toBe(1);
      }),
    60_000,
  );
});

describe("a process that is killed in the middle of a sign-in", () => {
  it(
    "a process killed before the exchange leaves the code to the next one",
    () =>
      withArrival(async (crash) => {
        const { platform, agent, back, server } = crash;
        const asked = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<number>();
        platform.before = () => {
          asked.resolve();
          return gate.promise;
        };
        const cut = agent.request(back).catch(() => "cut");
        await asked.promise;
        await kill(server);
        expect(await cut).toBe("cut");
        gate.resolve(503);
        platform.before = () => undefined;
        await crash.restart();
        expect(await comeBack(crash)).toEqual(SIGNED_IN);
        await oneUserOneExchange(crash);
      }),
    90_000,
  );

  it(
    "a process killed between exchange and commit leaves the same user, without a second exchange",
    () =>
      withArrival(async (crash) => {
        const { target, agent, back, server, platform } = crash;
        await withLock(target, "LOCK TABLE users IN ACCESS EXCLUSIVE MODE", async () => {
          const cut = agent.request(back).catch(() => "cut");
          await until(async () => (await prepared(target)) === 1);
          expect(platform.grants.authorization_code).toBe(1);
          expect(await countOf(target, "oncehook_records")).toBe(0);
          await kill(server);
          expect(await cut).toBe("cut");
        });
        await crash.restart();
        expect(await comeBack(crash)).toEqual(SIGNED_IN);
        await oneUserOneExchange(crash);
        expect(await prepared(target)).toBe(0);
      }),
    90_000,
  );

  it(
    "a browser that comes back gets the result although the process was killed after the commit",
    () =>
      withArrival(async (crash) => {
        const { target, agent, back, server } = crash;
        await agent.request(back).catch(() => {});
        await until(async () => (await countOf(target, "oncehook_records")) === 1);
        await kill(server);
        await crash.restart();
        expect(await comeBack(crash)).toEqual(SIGNED_IN);
        await oneUserOneExchange(crash);
      }),
    90_000,
  );
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { start } from "../../src/app/index.ts";
import { defineHandler, Rejected, signHmac } from "../../src/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import {
  type CallbackResponse,
  payment,
  SECRET,
  type TestReceiver,
  testConfig,
  withReceiver,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const STATE = "state-of-at-least-128-bits";
const PATH = "/api/platform/oauth-callback";

async function expectState(receiver: TestReceiver, state = STATE): Promise<CallbackResponse> {
  return receiver.admin("/api/v1/oauth/states", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state }),
  });
}

/** What a browser sends: nothing signed. */
async function redirect(receiver: TestReceiver, query: string, body = ""): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${receiver.publicOrigin}${PATH}${query}`, { method: "POST", body });
  return { status: response.status, body: await response.json() };
}

describeFullOnPostgres("the OAuth redirect on %s", (dialect) => {
  it.each([
    ["the query", `?code=c1&state=${STATE}`, ""],
    ["a form", "", `code=c1&state=${STATE}&unknown=1`],
    ["JSON", "", JSON.stringify({ code: "c1", state: STATE })],
  ])("the receiver exchanges the code that comes with a registered state, from %s", (_title, query, body) =>
    withReceiver(dialect, async (receiver) => {
      expect((await expectState(receiver)).status).toBe(201);
      expect(await redirect(receiver, query, body)).toEqual({
        status: 200,
        body: { status: "success", data: { user_id: "sandbox-user" } },
      });
      expect(await receiver.count("users", "user_id = 'sandbox-user'")).toBe(1);
    }),
  );

  it("the receiver knows a state that holds a question mark", () =>
    withReceiver(dialect, async (receiver) => {
      const state = `${STATE}?next=home`;
      await expectState(receiver, state);
      expect((await redirect(receiver, `?code=c1&state=${state}`)).status).toBe(200);
    }));

  it("the receiver exchanges once when the page is reloaded, and gives each the first one's answer", () =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      const answers = await Promise.all(Array.from({ length: 5 }, () => redirect(receiver, `?code=c1&state=${STATE}`)));
      const first = { status: "success", data: { user_id: "sandbox-user" } };
      expect(answers).toEqual(Array(5).fill({ status: 200, body: first }));
      expect(await receiver.count("oncehook_records")).toBe(1);
    }));

  it("the answer of a platform-started flow is repeated only with the same code", () =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(200);
      expect(await redirect(receiver, `?code=c2&state=${STATE}`)).toEqual({
        status: 401,
        body: { error: "invalid state" },
      });
      expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(200);
    }));

  it("a redirect finishes after a retry, and a reload then is the same delivery, not another under its id", () => {
    let offset = 0;
    const clock = { now: () => new Date(Date.now() + offset) };
    const drawn = { times: 0 };
    const unlucky = defineHandler({
      type: "user_authorized",
      data: z.object({ code: z.string() }),
      handle: async () => {
        drawn.times += 1;
        if (drawn.times === 1) throw new Error("down");
        return { user_id: "ada" };
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        await expectState(receiver);
        expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(500);
        offset = 61_000;
        await until(async () => (await receiver.count("oncehook_records", "status = 'completed'")) === 1);
        expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(200);
        expect(JSON.stringify(receiver.lines)).not.toContain("another body");
        expect(drawn.times).toBe(2);
      },
      { handlers: [unlucky], env: { HANDLERS: "none" }, clock, retryPollMs: 20 },
    );
  });

  it("a redirect leaves no failure behind when its code is refused in the end", () => {
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
      dialect,
      async (receiver) => {
        await expectState(receiver);
        expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(500);
        expect(await receiver.count("oncehook_failures")).toBe(1);
        isDown = false;
        expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(400);
        expect(await receiver.count("oncehook_failures")).toBe(0);
      },
      { handlers: [refusing], env: { HANDLERS: "none" } },
    );
  });

  it("the receiver keeps the failure of a code, and its retry, whatever other code is refused under its state", () =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      expect((await redirect(receiver, `?code=sandbox_unavailable&state=${STATE}`)).status).toBe(500);
      expect((await redirect(receiver, `?code=sandbox_refused&state=${STATE}`)).status).toBe(400);
      expect(await receiver.count("oncehook_failures", "state = 'waiting' AND lease_owner IS NULL")).toBe(1);
    }));

  it("the platform's signature also authenticates a redirect, which counts as a use of the secret", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = { code: "c1", state: "anything" };
      expect((await receiver.send(sent, { path: PATH })).status).toBe(200);
      const { text } = (await receiver.admin("/metrics")).body;
      expect(text).toContain('oncehook_credentials_used_total{source="platform",method="hmac",secret="current"} 1');
      expect((await receiver.send(sent, { path: PATH, secret: "f".repeat(32) })).status).toBe(401);
    }));

  it("a redirect signed without the required timestamp is refused, whatever its state", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await expectState(receiver);
        const answer = await receiver.send({ code: "c1", state: STATE }, { path: PATH });
        expect([answer.status, answer.body]).toEqual([401, { error: "invalid signature" }]);
      },
      { env: { SIGNATURE_TOLERANCE_SECONDS: "300" } },
    ));

  it.each([
    ["an unknown state", "?code=c1&state=unknown", 401, "invalid state"],
    ["no state", "?code=c1", 401, "invalid state"],
    ["no code", `?state=${STATE}`, 400, "code: missing"],
    ["two codes", `?code=a&code=b&state=${STATE}`, 400, "code: stands more than once"],
    [
      "an error",
      `?error=access_denied&error_description=%3Cscript%3E&state=${STATE}`,
      400,
      "the platform refused the authorization",
    ],
  ])("a redirect with %s is refused", (_title, query, status, error) =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      expect(await redirect(receiver, query)).toEqual({ status, body: { error } });
      expect(await receiver.count("oncehook_records")).toBe(0);
    }),
  );

  it("a redirect works after one without a code, which is no use of its state", () =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      expect((await redirect(receiver, `?state=${STATE}`)).status).toBe(400);
      expect((await redirect(receiver, `?code=c1&state=${STATE}`)).status).toBe(200);
    }));

  it("the redirect takes nothing from the query where a signature vouches for the body alone", () =>
    withReceiver(dialect, async (receiver) => {
      const path = `${PATH}?code=foreign&state=anything`;
      for (const sending of [{ path }, { path, raw: "" }]) {
        const answer = await receiver.send(payment(), sending);
        expect([answer.status, answer.body]).toEqual([
          400,
          { error: "code: must stand in the signed body, not in the query" },
        ]);
      }
      expect(await receiver.count("users")).toBe(0);
    }));

  it("a body of thirty thousand parameters is refused without being parsed", () =>
    withReceiver(dialect, async (receiver) => {
      const form = `code=c1&state=${STATE}&${"a&".repeat(30_000)}`;
      expect((await redirect(receiver, "", form)).status).toBe(401);
      expect((await redirect(receiver, "", `{"code":"c1","a":"${"a".repeat(16_384)}"}`)).status).toBe(401);
      const [row] = await wholeCallbacks(receiver);
      expect(row?.body).toContain('"truncated":true');
    }));

  it("a signed redirect with a body of more than 16 KiB is refused with the bound", () =>
    withReceiver(dialect, async (receiver) => {
      const sent = { code: "c1", state: "anything", more: "" };
      sent.more = "a".repeat(16_385 - JSON.stringify(sent).length);
      const answer = await receiver.send(sent, { path: PATH });
      expect([answer.status, answer.body]).toEqual([
        400,
        { error: "body: 16385 bytes; a redirect's body has 16384 bytes at most" },
      ]);
      expect((await receiver.send({ ...sent, more: sent.more.slice(1) }, { path: PATH })).status).toBe(200);
    }));

  it("the redirect refuses a body of more than 64 KiB before its parameters are parsed", () =>
    withReceiver(dialect, async (receiver) => {
      expect((await redirect(receiver, "", "a&".repeat(32_768))).status).toBe(401);
      expect((await redirect(receiver, "", "a&".repeat(32_769))).status).toBe(413);
    }));

  it("the receiver never stores code or state in the clear", () =>
    withReceiver(dialect, async (receiver) => {
      await expectState(receiver);
      await redirect(receiver, `?code=canary-code&state=${STATE}`);
      const everything = JSON.stringify([
        await wholeCallbacks(receiver),
        receiver.lines,
        await receiver.count("oncehook_redirect_states", `state_sha256 = '${STATE}'`),
      ]);
      expect(everything).toContain("[masked]");
      expect(everything.includes("canary-code") || everything.includes(STATE)).toBe(false);
    }));

  it("the redirect is served under an OAUTH_SCOPE_PATH of several segments", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const path = "/api/tenants/one/oauth-callback";
        expect((await receiver.send({ code: "c", state: "s" }, { path })).status).toBe(200);
        expect((await receiver.send({ code: "c", state: "s" }, { path: PATH })).status).toBe(404);
      },
      { env: { OAUTH_SCOPE_PATH: "tenants/one" } },
    ));
});

describe("a browser after its redirect", () => {
  const URL_OF_ANY_SCRIPT = "https://example.com/登录";

  /** Brings what the platform signed, and does not follow the response. */
  function browse(origin: string): Promise<Response> {
    const body = JSON.stringify({ code: "c1", state: "anything" });
    const headers = { accept: "text/html", "x-signature": signHmac(SECRET, Buffer.from(body)) };
    return fetch(`${origin}${PATH}`, { method: "POST", body, headers, redirect: "manual" });
  }

  it("a browser is sent to an OAUTH_SUCCESS_URL of any script, percent-encoded", () =>
    withReceiver(
      "sqlite",
      async ({ publicOrigin }) => {
        const { status, headers } = await browse(publicOrigin);
        expect([status, headers.get("location")]).toEqual([303, "https://example.com/%E7%99%BB%E5%BD%95"]);
      },
      { env: { OAUTH_SUCCESS_URL: URL_OF_ANY_SCRIPT } },
    ));

  it("a response that Node refuses to send closes its connection, and is logged", () =>
    withMigrated("sqlite", async (target) => {
      const config = testConfig(target);
      const { logger, lines } = capturedLog(config);
      const redirect = { ...config.redirect, successUrl: URL_OF_ANY_SCRIPT };
      const running = await start({ ...config, redirect }, { logger });
      try {
        await expect(browse(running.publicOrigin)).rejects.toThrow("fetch failed");
        const message = "a response could not be sent, and its connection was closed";
        expect(lines.filter(({ msg }) => msg === message)).toMatchObject([{ err: { code: "ERR_INVALID_CHAR" } }]);
      } finally {
        await running.stop();
      }
    }));
});

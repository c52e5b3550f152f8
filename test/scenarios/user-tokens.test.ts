import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, UserTokensMissing } from "../../src/index.ts";
import { type DIALECTS, describeFullOnPostgres } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { type FlowTest, withFlow } from "../support/oauth-flow.ts";
import { event, type ReceiverOptions, startReceiver, type TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A handler that needs a user's token for a call of its own. */
const calling = defineHandler({
  type: "call_platform",
  data: z.object({ user_id: z.string() }),
  async prepare({ event, tokens }) {
    try {
      const { accessToken, tokenType, scope } = await tokens.for(event.data.user_id);
      return { accessToken, tokenType, scope };
    } catch (error) {
      if (error instanceof UserTokensMissing) return { missing: error.message };
      throw error;
    }
  },
  handle: ({ prepared }) => prepared,
});

interface Time {
  offset: number;
}

function withSignedIn(
  dialect: (typeof DIALECTS)[number],
  use: (flow: FlowTest, time: Time) => Promise<void>,
  options: ReceiverOptions = {},
): Promise<void> {
  const time: Time = { offset: 0 };
  const clock = { now: () => new Date(Date.now() + time.offset) };
  return withFlow(
    dialect,
    async (flow) => {
      const { agent, back } = await flow.arrive();
      expect((await agent.request(back)).status).toBe(303);
      await use(flow, time);
    },
    { handlers: [calling], clock, ...options },
  );
}

const ask = async (receiver: TestReceiver, user_id = "ada") =>
  (await receiver.send(event("call_platform", { user_id }))).body.data as Record<string, string>;

describeFullOnPostgres("the tokens of a user on %s", (dialect) => {
  it("valid tokens are returned to a handler without a refresh", () =>
    withSignedIn(dialect, async ({ receiver, platform }) => {
      const [first, second] = [await ask(receiver), await ask(receiver)];
      expect(first).toMatchObject({ accessToken: expect.any(String), tokenType: "Bearer" });
      expect(second?.accessToken).toBe(first?.accessToken);
      expect(platform.grants.refresh_token).toBe(0);
    }));

  it("two processes that need tokens at once refresh them once, and later with the rotated token", () =>
    withSignedIn(dialect, async ({ receiver, platform, target, env }, time) => {
      const clock = { now: () => new Date(Date.now() + time.offset) };
      const second = await startReceiver(target, { env: { ...env, PORT: "0" }, handlers: [calling], clock });
      const before = await ask(receiver);
      time.offset = 3_590_000;
      const asked = [receiver, second, receiver, second, receiver].map((one) => ask(one));
      const tokens = new Set((await Promise.all(asked)).map(({ accessToken }) => accessToken));
      expect(tokens.size).toBe(1);
      expect(tokens.has(before.accessToken)).toBe(false);
      expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 1, refused: 0 });
      time.offset = 2 * 3_590_000;
      await ask(second);
      expect(platform.grants.refresh_token).toBe(2);
      await second.stop();
    }));

  it("tokens are refreshed ahead of time, although no handler asks", () =>
    withSignedIn(
      dialect,
      async ({ platform, target }, time) => {
        const [before] = await rowsOf(target, "SELECT expires_at FROM oncehook_user_tokens");
        time.offset = 3_310_000;
        await until(() => platform.grants.refresh_token === 1);
        await until(async () => {
          const [row] = await rowsOf(target, "SELECT expires_at, lease_owner FROM oncehook_user_tokens");
          return String(row?.expires_at) !== String(before?.expires_at) && row?.lease_owner === null;
        });
        expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 1, refused: 0 });
      },
      { refreshPollMs: 20 },
    ));

  it("tokens wait for a platform that is away, and are said to be missing once it refuses them", () =>
    withSignedIn(dialect, async ({ receiver, platform, target }, time) => {
      time.offset = 3_590_000;
      platform.before = () => 503;
      expect((await receiver.send(event("call_platform", { user_id: "ada" }))).status).toBe(500);
      platform.before = () => undefined;
      expect(await ask(receiver)).toHaveProperty("accessToken");
      platform.endGrants();
      time.offset = 2 * 3_590_000;
      expect(await ask(receiver)).toEqual({ missing: 'user "ada" must authorize us again' });
      const refused = platform.grants.refused;
      expect(await ask(receiver)).toMatchObject({
        missing: expect.stringContaining("must authorize us again"),
      });
      expect(platform.grants.refused).toBe(refused);
      expect((await rowsOf(target, "SELECT refresh_at FROM oncehook_user_tokens"))[0]?.refresh_at).toBeNull();
    }));

  it("an operator's revocation revokes the tokens at the platform and here", () =>
    withSignedIn(dialect, async ({ receiver }) => {
      const revoke = () => receiver.admin("/api/v1/users/ada/tokens", { method: "DELETE" });
      expect((await revoke()).status).toBe(204);
      expect((await revoke()).status).toBe(404);
      expect(await ask(receiver)).toEqual({ missing: 'user "ada" has not authorized us' });
      expect(await receiver.count("users", "user_id = 'ada'")).toBe(1);
    }));

  it("tokens outlive a rotation of ENCRYPTION_KEY, and are read without the old key in the end", () =>
    withSignedIn(dialect, async ({ receiver, target, env }) => {
      const before = await ask(receiver);
      const rotated = {
        ENCRYPTION_KEY: Buffer.alloc(32, 8).toString("base64"),
        ENCRYPTION_KEY_PREVIOUS: Buffer.alloc(32, 7).toString("base64"),
      };
      const second = await startReceiver(target, {
        env: { ...env, ...rotated, PORT: "0" },
        handlers: [calling],
        resealPollMs: 20,
      });
      expect((await ask(second)).accessToken).toBe(before.accessToken);
      await until(() => second.lines.some(({ msg }) => String(msg).startsWith("re-encryption is complete")));
      await second.stop();
      const third = await startReceiver(target, {
        env: { ...env, ...rotated, ENCRYPTION_KEY_PREVIOUS: "", PORT: "0" },
        handlers: [calling],
      });
      expect((await ask(third)).accessToken).toBe(before.accessToken);
      await third.stop();
    }));
});

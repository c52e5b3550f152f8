import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createEncryptor } from "../../src/system/encryption.ts";
import { DIALECTS } from "../support/databases.ts";
import { overriding } from "../support/overriding.ts";
import { newTokens, refreshedBeforeLease, withTokens } from "../support/token-endpoint.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe.each(DIALECTS)("the tokens of users on %s", (dialect) => {
  it("tokens are not refreshed again when another process refreshed them between our read and our lease", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada");
      const late = refreshedBeforeLease(test);
      expect(await test.keeper(late).for("ada")).toMatchObject({ accessToken: "new-1" });
      expect(test.asked).toBe(1);
    }));

  it("tokens are refreshed although tokens before them cannot be decrypted", () =>
    withTokens(dialect, async (test) => {
      const lost = createEncryptor(randomBytes(32));
      for (let number = 0; number < 9; number += 1) await test.expired(`lost-${number}`, number, lost);
      await test.expired("ada", 100);
      expect(await test.keeper().refreshDue()).toBe(10);
      expect(test.asked).toBe(1);
      expect(test.log.lines.filter(({ level }) => level === "warn")).toHaveLength(9);
      // They are put off, not tried in a circle.
      expect(await test.keeper().refreshDue()).toBe(0);
    }));

  it("one round refreshes all tokens that are due", () =>
    withTokens(dialect, async (test) => {
      for (let number = 0; number < 20; number += 1) await test.expired(`user-${number}`, number);
      expect(await test.keeper().refreshDue()).toBe(20);
      expect(test.asked).toBe(20);
    }));

  it.each([0, 1, 60])("tokens with a life of %d seconds are returned", (expires_in) =>
    withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        expect(await test.keeper().for("ada")).toMatchObject({ accessToken: "new-1" });
        expect(test.asked).toBe(1);
      },
      (_request, response, { asked }) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ access_token: `new-${asked}`, token_type: "Bearer", expires_in }));
      },
    ),
  );

  it("tokens keep the refresh token where a refresh brings no other one", () => {
    const sent: (string | null)[] = [];
    return withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        for (const number of [1, 2])
          expect(await test.keeper().for("ada")).toMatchObject({ accessToken: `new-${number}` });
        expect(sent).toEqual(["refresh-ada", "refresh-ada"]);
      },
      async (request, response, { asked }) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        sent.push(new URLSearchParams(body).get("refresh_token"));
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ access_token: `new-${asked}`, token_type: "Bearer", expires_in: 0 }));
      },
    );
  });

  it("tokens without any life are refreshed once a round and not in a loop", () =>
    withTokens(
      dialect,
      async (test) => {
        for (let number = 0; number < 20; number += 1) await test.expired(`user-${number}`, number);
        expect(await test.keeper().refreshDue()).toBe(20);
        expect(test.asked).toBe(20);
      },
      (_request, response) => {
        response.setHeader("content-type", "application/json");
        const tokens = { access_token: "new", refresh_token: "r", token_type: "Bearer", expires_in: 0 };
        response.end(JSON.stringify(tokens));
      },
    ));

  it("refreshed tokens are saved although the database is unavailable when the platform responds", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada");
      const { userTokens } = test.store;
      let failures = 3;
      vi.useFakeTimers({ toFake: ["performance"] });
      const failing = overriding(userTokens, {
        async save(...given) {
          failures -= 1;
          if (failures < 0) return userTokens.save(...given);
          // Three of them are almost the lease's minute.
          vi.advanceTimersByTime(18_000);
          throw new Error("the database is away");
        },
      });
      expect(await test.keeper(failing).for("ada")).toMatchObject({ accessToken: "new-1" });
      expect(await test.keeper().for("ada")).toMatchObject({ accessToken: "new-1" });
      expect(test.asked).toBe(1);
    }));

  it("a revocation during a refresh revokes the new refresh token", () => {
    const revoked: string[] = [];
    const waited = Promise.withResolvers<void>();
    return withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        const refreshed = test.keeper().for("ada");
        await expect.poll(() => test.asked).toBe(1);
        const { userTokens } = test.store;
        const watched = overriding(userTokens, {
          async leaseOne(userId, lease) {
            const leased = await userTokens.leaseOne(userId, lease);
            if (leased === "leased") waited.resolve();
            return leased;
          },
        });
        expect(await test.keeper(watched).revoke("ada", "everywhere")).toBe(true);
        await refreshed;
        expect(revoked).toEqual(["rotated"]);
        expect(await test.store.userTokens.get("ada")).toBeUndefined();
        expect(await test.keeper().revoke("ada", "everywhere")).toBe(false);
      },
      async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        if (request.url === "/revoke") {
          revoked.push(new URLSearchParams(body).get("token") ?? "");
          response.end();
          return;
        }
        // The revocation comes in between, and finds that it has to wait.
        await waited.promise;
        response.setHeader("content-type", "application/json");
        const tokens = {
          access_token: "new",
          refresh_token: "rotated",
          token_type: "Bearer",
          expires_in: 3600,
        };
        response.end(JSON.stringify(tokens));
      },
    );
  });

  it("tokens are kept when the platform cannot revoke them at present", () =>
    withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        await expect(test.keeper().revoke("ada", "everywhere")).rejects.toThrow();
        expect(await test.keeper().for("ada")).toMatchObject({ accessToken: "new-2" });
        // Unless an operator says that they must go all the same.
        expect(await test.keeper().revoke("ada", "here")).toBe(true);
        expect(await test.store.userTokens.get("ada")).toBeUndefined();
      },
      (request, response, test) => {
        if (request.url !== "/revoke") return newTokens(request, response, test);
        response.statusCode = 503;
        response.end();
      },
    ));
});

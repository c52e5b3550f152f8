import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { UserTokensMissing } from "../../src/handlers/index.ts";
import type { RenewableTokens } from "../../src/oauth/index.ts";
import type { UserTokens } from "../../src/store/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { overriding } from "../support/overriding.ts";
import { newTokens, refreshedBeforeLease, type TokenTest, withTokens } from "../support/token-endpoint.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A store whose tokens are leased by another process for ever: each look at it takes four seconds. */
function leasedElsewhere({ store }: TokenTest): UserTokens {
  vi.useFakeTimers({ toFake: ["performance"] });
  return overriding(store.userTokens, {
    async leaseOne() {
      vi.advanceTimersByTime(4_000);
      return "leased";
    },
  });
}

/** Answers with tokens that live for so long. */
const livingFor =
  (seconds: number): typeof newTokens =>
  (_request, response, { asked }) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: `new-${asked}`, token_type: "Bearer", expires_in: seconds }));
  };

describe.each(DIALECTS)("the tokens of users on %s", (dialect) => {
  it("expired tokens without a refresh token are missing, and are not refreshed again", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada", 1, undefined, { refresh_token: undefined });
      const missing = expect.objectContaining({
        name: UserTokensMissing.name,
        message: 'user "ada" must authorize us again: the platform gave no refresh token',
      });
      await expect(test.keeper().for("ada")).rejects.toEqual(missing);
      expect(await test.keeper().refreshDue()).toBe(0);
      expect(test.asked).toBe(0);
    }));

  it("a revocation can lease tokens that another process refreshed before our lease", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada");
      const late = refreshedBeforeLease(test);
      await test.keeper(late).for("ada");
      const until = new Date(Date.now() + 1_000);
      const lease = await test.store.userTokens.leaseOne("ada", { owner: "another", now: new Date(), until });
      expect(lease).toMatchObject({ userId: "ada" });
    }));

  it("short-lived tokens are returned again until half of their life is over", () => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    return withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        const askedAfter = async (seconds: number) => {
          time.offset = seconds * 1_000;
          await test.keeper().for("ada");
          return test.asked;
        };
        expect([await askedAfter(0), await askedAfter(15), await askedAfter(31)]).toEqual([1, 1, 2]);
      },
      livingFor(60),
      clock,
    );
  });

  it("tokens are deleted here only where the platform has no revocation address", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada");
      const keeper = test.keeper(undefined, { revocationUrl: null });
      expect(await keeper.revoke("ada", "everywhere")).toBe(true);
      expect(await test.store.userTokens.get("ada")).toBeUndefined();
      expect(test.asked).toBe(0);
    }));

  it("a refresh round refreshes no further tokens once it is asked to stop", () =>
    withTokens(dialect, async (test) => {
      for (let number = 0; number < 20; number += 1) await test.expired(`user-${number}`, number);
      expect(await test.keeper().refreshDue(() => true)).toBe(8);
      expect(test.asked).toBe(8);
    }));

  it("tokens stored by a clock an hour ahead are refreshed when the current clock says they are due", () =>
    withTokens(
      dialect,
      async (test) => {
        await test.expired("ada", 3_600);
        expect(await test.keeper().refreshDue()).toBe(1);
      },
      newTokens,
      { now: () => new Date(60_000) },
    ));

  it("a refresh that brings another token_type and a negative lifetime loses no tokens", () =>
    withTokens(
      dialect,
      async (test) => {
        await test.expired("ada");
        expect(await test.keeper().for("ada")).toMatchObject({ accessToken: "new", tokenType: "bot" });
      },
      (_request, response) => {
        response.end(JSON.stringify({ access_token: "new", token_type: "Bot", expires_in: -1 }));
      },
    ));

  it("refreshed tokens are returned, with a warning, although the user authorized again meanwhile", () =>
    withTokens(dialect, async (test) => {
      await test.expired("ada");
      const overtaken = overriding(test.store.userTokens, { save: async () => false });
      expect(await test.keeper(overtaken).for("ada")).toMatchObject({ accessToken: "new-1" });
      expect(test.log.lines).toMatchObject([{ level: "warn", fields: { user_id: "ada" } }]);
    }));
});

describe("the wait for tokens that another process refreshes", () => {
  it.each([
    ["of a handler", (test: TokenTest) => test.keeper(leasedElsewhere(test)).for("ada")],
    ["of a revocation", (test: TokenTest) => test.keeper(leasedElsewhere(test)).revoke("ada", "here")],
  ])("%s ends after ten seconds", (_title, wait) =>
    withTokens("sqlite", async (test) => {
      await test.expired("ada");
      const begun = performance.now();
      await expect(wait(test)).rejects.toThrow('the tokens of user "ada" are being refreshed');
      expect(performance.now() - begun).toBeLessThan(20_000);
    }),
  );
});

describe("a database that is away beyond the lease of a refresh", () => {
  /**
   * A refresh that the database does not accept: each attempt takes 25 seconds. `use` begins after the end of the lease, with
   * the database back.
   * @param sent the tokens that the platform gets, of which each works once
   */
  function afterItsLease(
    use: (test: TokenTest, keeper: RenewableTokens, sent: (string | null)[]) => Promise<void>,
  ): Promise<void> {
    const sent: (string | null)[] = [];
    const time = { offset: 0 };
    return withTokens(
      "sqlite",
      async (test) => {
        await test.expired("ada");
        vi.useFakeTimers({ toFake: ["performance"] });
        const { userTokens } = test.store;
        let saves = 0;
        const away = overriding(userTokens, {
          async save(...given) {
            saves += 1;
            if (time.offset > 0) return userTokens.save(...given);
            vi.advanceTimersByTime(25_000);
            throw new Error("the database is away");
          },
        });
        const keeper = test.keeper(away);
        await expect(keeper.for("ada")).rejects.toThrow("the database is away");
        expect(saves).toBe(3);
        time.offset = 61_000;
        await use(test, keeper, sent);
      },
      async (request, response, { asked }) => {
        const body = new URLSearchParams(await text(request));
        sent.push(body.get("refresh_token") ?? body.get("token"));
        const tokens = { access_token: `new-${asked}`, refresh_token: `rotated-${asked}`, expires_in: 3600 };
        response.end(JSON.stringify(tokens));
      },
      { now: () => new Date(Date.now() + time.offset) },
    );
  }

  it("a rotated refresh token that could not be saved in time is used by the next refresh", () =>
    afterItsLease(async (test, keeper, sent) => {
      expect(await keeper.for("ada")).toMatchObject({ accessToken: "new-2" });
      expect(await test.keeper().for("ada")).toMatchObject({ accessToken: "new-2" });
      expect(sent).toEqual(["refresh-ada", "rotated-1"]);
    }));

  it("a revocation revokes the rotated refresh token that could not be saved", () =>
    afterItsLease(async (_test, keeper, sent) => {
      expect(await keeper.revoke("ada", "everywhere")).toBe(true);
      expect(sent).toEqual(["refresh-ada", "rotated-1"]);
    }));
});

import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { systemClock } from "../../src/domain/index.ts";
import { sealTokens } from "../../src/handlers/index.ts";
import { createPlatform, createUserTokens } from "../../src/oauth/index.ts";
import { createSealer } from "../../src/seal/index.ts";
import type { UserTokenStore } from "../../src/store/index.ts";
import { recordedLog } from "../observe/recorded-log.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { withHttpServer } from "../support/http-server.ts";

it.each(DIALECTS)(
  "tokens that another process refreshed between our look and our lease are not refreshed again: %s",
  (dialect) =>
    withStore(dialect, async (store, target) => {
      let asked = 0;
      const sealer = createSealer(randomBytes(32));
      await withHttpServer(
        (_request, response) => {
          asked += 1;
          response.setHeader("content-type", "application/json");
          response.end(
            JSON.stringify({ access_token: `new-${asked}`, token_type: "Bearer", expires_in: 3600 }),
          );
        },
        async (origin) => {
          const platform = createPlatform({
            issuer: null,
            authorizationUrl: null,
            tokenUrl: `${origin}/token`,
            revocationUrl: null,
            clientId: "us",
            clientSecret: "secret",
            scope: null,
          });
          const tokensOf = (userTokens: UserTokenStore) =>
            createUserTokens({
              store: userTokens,
              platform: () => platform,
              sealer,
              clock: systemClock,
              log: recordedLog(),
            });
          const old = { access_token: "old", refresh_token: "r", expires_in: 1 };
          const { sealed } = sealTokens(old, "ada", sealer, new Date(0));
          const hex = Buffer.from(sealed).toString("hex");
          const bytes = dialect === "sqlite" ? `x'${hex}'` : `'\\x${hex}'`;
          const past = "'1970-01-01T00:00:01.000Z'";
          await execute(
            target,
            `INSERT INTO oncehook_user_tokens (user_id, sealed_tokens, expires_at, refresh_at, updated_at)
           VALUES ('ada', ${bytes}, ${past}, ${past}, ${past})`,
          );
          // The other process is done in the very moment between the two.
          const late: UserTokenStore = {
            ...store.userTokens,
            async leaseOne(userId, lease) {
              await tokensOf(store.userTokens).for(userId);
              return store.userTokens.leaseOne(userId, lease);
            },
          };
          expect(await tokensOf(late).for("ada")).toMatchObject({ accessToken: "new-1" });
          expect(asked).toBe(1);
        },
      );
    }),
);

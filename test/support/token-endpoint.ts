import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../src/domain/index.ts";
import { encryptTokens } from "../../src/handlers/index.ts";
import {
  createPlatform,
  createUserTokens,
  type PlatformSettings,
  type RenewableTokens,
} from "../../src/oauth/index.ts";
import type { Store, UserTokens } from "../../src/store/index.ts";
import { createEncryptor, type Encryptor } from "../../src/system/encryption.ts";
import { systemClock } from "../../src/system/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { type Dialect, withStore } from "./databases.ts";
import { execute } from "./execute.ts";
import { withHttpServer } from "./http-server.ts";
import { overriding } from "./overriding.ts";

/** Users' tokens in a store of their own, and a token endpoint that answers as the test says. */
export interface TokenTest {
  readonly store: Store;
  readonly log: ReturnType<typeof recordedLog>;
  /** How many requests the endpoints had. */
  asked: number;
  /** The keeper under test, over this store or one that the test wraps around it. */
  keeper(userTokens?: UserTokens, over?: Partial<PlatformSettings>): RenewableTokens;
  /** Stores tokens that have expired, and that may be refreshed since `second` of the epoch. */
  expired(userId: string, second?: number, encryptor?: Encryptor, over?: object): Promise<void>;
}

type Respond = (request: IncomingMessage, response: ServerResponse, test: TokenTest) => void | Promise<void>;

export function withTokens(
  dialect: Dialect,
  use: (test: TokenTest) => Promise<void>,
  respond: Respond = newTokens,
  clock: Clock = systemClock,
): Promise<void> {
  return withStore(dialect, async (store, target) => {
    const own = createEncryptor(randomBytes(32));
    const log = recordedLog();
    let origin = "";
    const test: TokenTest = {
      store,
      log,
      asked: 0,
      keeper(userTokens = store.userTokens, over = {}) {
        const settings = {
          issuer: null,
          authorizationUrl: null,
          tokenUrl: `${origin}/token`,
          revocationUrl: `${origin}/revoke`,
          clientId: "us",
          clientSecret: "secret",
          scope: null,
          ...over,
        };
        const platform = createPlatform(settings, false);
        return createUserTokens({ store: userTokens, platform: () => platform, encryptor: own, clock, log });
      },
      async expired(userId, second = 1, encryptor = own, over = {}) {
        const old = { access_token: "old", refresh_token: `refresh-${userId}`, expires_in: 1, ...over };
        const { encrypted } = encryptTokens(old, userId, encryptor, new Date(0));
        const hex = Buffer.from(encrypted).toString("hex");
        const bytes = dialect === "sqlite" ? `x'${hex}'` : `'\\x${hex}'`;
        const past = `'${new Date(second * 1000).toISOString()}'`;
        await execute(
          target,
          `INSERT INTO oncehook_user_tokens (user_id, encrypted_tokens, expires_at, refresh_at, updated_at)
           VALUES ('${userId}', ${bytes}, ${past}, ${past}, ${past})`,
        );
      },
    };
    await withHttpServer(
      async (request, response) => {
        test.asked += 1;
        await respond(request, response, test);
      },
      async (at) => {
        origin = at;
        await use(test);
      },
    );
  });
}

export function newTokens(_request: IncomingMessage, response: ServerResponse, { asked }: TokenTest): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ access_token: `new-${asked}`, token_type: "Bearer", expires_in: 3600 }));
}

/** The store of tokens where another process refreshes in the very moment between our look and our lease. */
export function refreshedBeforeLease({ store: { userTokens }, keeper }: TokenTest): UserTokens {
  return overriding(userTokens, {
    async leaseOne(userId, lease) {
      await keeper().for(userId);
      return userTokens.leaseOne(userId, lease);
    },
  });
}

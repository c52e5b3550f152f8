import { withMigrated } from "./databases.ts";
import { freePort } from "./free-port.ts";
import { CLIENT, type OidcOptions, type OidcPlatform, withOidcPlatform } from "./oidc-platform.ts";
import type { Dialect } from "./open-target.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "./receiver.ts";
import { UserAgent } from "./user-agent.ts";

/** A receiver whose operators sign in at a real OpenID provider. */
export interface OperatorsTest {
  readonly receiver: TestReceiver;
  readonly platform: OidcPlatform;
  /** Of the admin listener, as operators reach it. */
  readonly base: string;
  /** What this receiver is configured with, for a second process. */
  readonly env: Record<string, string>;
  /** A browser that has been at the provider, and holds the address of its way back, not yet visited. */
  arrive(login: string): Promise<{ agent: UserAgent; back: string }>;
  /** The same, and it has come back. */
  signIn(login: string): Promise<{ agent: UserAgent; answer: Response }>;
}

export type OperatorsOptions = ReceiverOptions & { readonly oidc?: Omit<OidcOptions, "redirectUris"> };

/** In it `ada` is an operator and `vera` a viewer; the addresses of `eve` and `erin` are not verified. */
export async function withOperators<T>(
  dialect: Dialect,
  use: (test: OperatorsTest) => Promise<T>,
  { oidc, env: over, ...parts }: OperatorsOptions = {},
): Promise<T> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const redirectUri = `${base}/sign-in/oidc/callback`;
  return withOidcPlatform({ redirectUris: [redirectUri], ...oidc }, (platform) =>
    withMigrated(dialect, async (target) => {
      const env = {
        ADMIN_PORT: String(port),
        ADMIN_BASE_URL: base,
        ADMIN_OIDC_ISSUER: platform.issuer,
        ADMIN_OIDC_CLIENT_ID: CLIENT.id,
        ADMIN_OIDC_CLIENT_SECRET: CLIENT.secret,
        ADMIN_OIDC_OPERATORS: "Ada@example.com, eve@example.com, erin@example.com",
        ADMIN_OIDC_VIEWERS: "vera@example.com",
        ...over,
      };
      const receiver = await startReceiver(target, { ...parts, env });
      const arrive = async (login: string) => {
        const agent = new UserAgent();
        return { agent, back: await agent.authorize(`${base}/sign-in/oidc`, redirectUri, login) };
      };
      const signIn = async (login: string) => {
        const { agent, back } = await arrive(login);
        return { agent, answer: await agent.request(back) };
      };
      try {
        return await use({ receiver, platform, base, env, arrive, signIn });
      } finally {
        await receiver.stop();
      }
    }),
  );
}

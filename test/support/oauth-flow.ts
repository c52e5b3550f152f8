import { type Dialect, type Target, withMigrated } from "./databases.ts";
import { freePort } from "./free-port.ts";
import { CLIENT, type OidcOptions, type OidcPlatform, withOidcPlatform } from "./oidc-platform.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "./receiver.ts";
import { UserAgent } from "./user-agent.ts";

export interface FlowTest {
  readonly receiver: TestReceiver;
  readonly platform: OidcPlatform;
  readonly target: Target;
  readonly startUrl: string;
  readonly redirectUri: string;
  /** What this receiver is configured with, for a second process. */
  readonly env: Record<string, string>;
  /** A browser that has signed in and holds the address of its redirect, not yet visited. */
  arrive(login?: string): Promise<{ agent: UserAgent; back: string }>;
}

/** Variables for a receiver on a port of its own, registered with an authorization server. */
export function flowEnv(port: number, issuer: string): Record<string, string> {
  return {
    HOST: "localhost",
    PORT: String(port),
    CALLBACK_BASE_URL: `http://localhost:${port}`,
    OAUTH_ISSUER: issuer,
    OAUTH_CLIENT_ID: CLIENT.id,
    OAUTH_CLIENT_SECRET: CLIENT.secret,
  };
}

/** Lends a receiver and a real authorization server that knows it. */
export async function withFlow<T>(
  dialect: Dialect,
  use: (flow: FlowTest) => Promise<T>,
  options: ReceiverOptions & { readonly oidc?: Omit<OidcOptions, "redirectUris"> } = {},
): Promise<T> {
  const { oidc, env: over, ...parts } = options;
  const port = await freePort();
  const base = `http://localhost:${port}`;
  const redirectUri = `${base}/api/platform/oauth-callback`;
  return withOidcPlatform({ redirectUris: [redirectUri], ...oidc }, (platform) =>
    withMigrated(dialect, async (target) => {
      const env = { ...flowEnv(port, platform.issuer), ...over };
      const receiver = await startReceiver(target, { ...parts, env });
      const startUrl = `${base}/api/platform/oauth-start`;
      const arrive = async (login?: string) => {
        const agent = new UserAgent();
        return { agent, back: await agent.authorize(startUrl, redirectUri, login) };
      };
      try {
        return await use({ receiver, platform, target, startUrl, redirectUri, env, arrive });
      } finally {
        await receiver.stop();
      }
    }),
  );
}

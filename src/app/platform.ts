import type { Config } from "../config/index.ts";
import { createPlatform, type Platform, sandboxSettings } from "../oauth/index.ts";

/** The configured authorization server, or the sandbox platform, whose address is known once it listens. */
export function configuredPlatform(
  { oauth, environment }: Config,
  adminOrigin: () => string,
): () => Platform {
  let platform: Platform | undefined;
  return () => {
    platform ??= createPlatform(oauth ?? sandboxSettings(adminOrigin()), environment === "production");
    return platform;
  };
}

/** Without an address to send browsers to, there is no address at which they could begin; production has no sandbox. */
export function startsFlows({ oauth, environment }: Config): boolean {
  if (oauth === null) return environment !== "production";
  return oauth.issuer !== null || oauth.authorizationUrl !== null;
}

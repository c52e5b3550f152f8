import type { Config } from "../config/index.ts";
import type { Handler } from "../handlers/index.ts";
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

/** The event of OAuth redirects, which are of version v1 (SPEC 6). */
export const SIGNED_IN = "user_authorized";

/** Whether a handler receives what redirects bring, where no registry was made. */
export function handlesSignIns({ builtInHandlers }: Config, own: readonly Handler[]): boolean {
  return (
    builtInHandlers.includes(SIGNED_IN) ||
    own.some(({ type, versions }) => type === SIGNED_IN && versions.includes("v1"))
  );
}

/** Where redirects have no handler: what to do, for an operator and for the browser that would start a flow. */
export function unhandledSignIn(isHandled: boolean): string | undefined {
  if (isHandled) return undefined;
  return (
    "no handler receives user_authorized, so no OAuth flow starts here: add the built-in one with HANDLERS=user_authorized, " +
    "or a handler of your own"
  );
}

/** Without an address to send browsers to, there is no address at which they could begin; production has no sandbox. */
export function startsFlows({ oauth, environment }: Config): boolean {
  if (oauth === null) return environment !== "production";
  return oauth.issuer !== null || oauth.authorizationUrl !== null;
}

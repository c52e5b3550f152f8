import type { Config } from "../../config/index.ts";
import type { Handler } from "../../handlers/index.ts";
import { createPlatform } from "../../oauth/index.ts";
import { handlesSignIns, startsFlows, unhandledSignIn } from "../platform.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

/** That the authorization server can be discovered, and which redirect address it must know. */
export async function checkOAuth(config: Config, handlers: readonly Handler[]): Promise<Finding[]> {
  const about = "oauth";
  const { oauth, redirect } = config;
  const unhandled = unhandledSignIn(handlesSignIns(config, handlers));
  if (oauth === null) {
    if (config.environment === "production") return [ok(about, "is not configured")];
    return [ok(about, unhandled ?? "the sandbox platform stands in")];
  }
  let server: { readonly token_endpoint?: string; readonly userinfo_endpoint?: string };
  try {
    server = await createPlatform(oauth, config.environment === "production").server();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [failure(about, `OAUTH_ISSUER: ${oauth.issuer} cannot be discovered: ${why}`)];
  }
  const findings = [ok(about, `register this redirect address with the platform: ${redirect.uri}`)];
  if (unhandled !== undefined) findings.push(warning(about, unhandled));
  if (!startsFlows(config))
    findings.push(warning(about, "OAUTH_AUTHORIZATION_URL is not set: no flow starts here"));
  if (server.token_endpoint === undefined)
    findings.push(
      failure(about, `OAUTH_ISSUER: ${oauth.issuer} names no token_endpoint: no code can be exchanged`),
    );
  findings.push(ok(about, usersKnownBy(oauth, server.userinfo_endpoint)));
  return findings;
}

/** Told before a code is spent on an answer that names no user. */
function usersKnownBy(
  { scope, userInfo }: NonNullable<Config["oauth"]>,
  discovered: string | undefined,
): string {
  if (scope?.split(" ").includes("openid")) return "users are known by sub of their ID token";
  const url = userInfo.url ?? discovered;
  if (url !== undefined) return `users are known by user_id of the token answer, else by ${url}`;
  return (
    "users are known by user_id of the token answer, else kept under random ids; set OAUTH_USERINFO_URL where the platform " +
    "answers without user_id"
  );
}

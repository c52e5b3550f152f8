import type { Config } from "../../config/index.ts";
import { createPlatform } from "../../oauth/index.ts";
import { startsFlows } from "../platform.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

/** That the authorization server can be discovered, and which redirect address it must know. */
export async function checkOAuth(config: Config): Promise<Finding[]> {
  const about = "oauth";
  const { oauth, redirect } = config;
  if (oauth === null) {
    return [
      ok(about, config.environment === "production" ? "is not configured" : "the sandbox platform stands in"),
    ];
  }
  try {
    await createPlatform(oauth, config.environment === "production").server();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [failure(about, `OAUTH_ISSUER: ${oauth.issuer} cannot be discovered: ${why}`)];
  }
  const findings = [ok(about, `register this redirect address with the platform: ${redirect.uri}`)];
  if (!startsFlows(config))
    findings.push(warning(about, "OAUTH_AUTHORIZATION_URL is not set: no flow starts here"));
  return findings;
}

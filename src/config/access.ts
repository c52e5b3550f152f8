import { requireTogether } from "./check-values.ts";
import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";
import { isLoopbackHost } from "./public-host.ts";
import type { Values } from "./read-variables.ts";

const PROVIDER = ["ADMIN_OIDC_ISSUER", "ADMIN_OIDC_CLIENT_ID", "ADMIN_OIDC_CLIENT_SECRET"] as const;
const WITH_PROVIDER = [
  "ADMIN_OIDC_SCOPES",
  "ADMIN_OIDC_CLAIM",
  "ADMIN_OIDC_OPERATORS",
  "ADMIN_OIDC_VIEWERS",
] as const;

type AccessConfig = Pick<Config["admin"], "viewerToken" | "baseUrl" | "sessionHours" | "oidc">;

/** Admin access; missing or invalid settings are added to the problems. */
export function accessOf(values: Values, problems: Problems): AccessConfig {
  requireTogether(values, PROVIDER, problems);
  checkProvider(values, problems);
  if (values.APP_ENV === "production") checkHttps(values, problems);
  const { ADMIN_BASE_URL: baseUrl } = values;
  return {
    viewerToken: values.ADMIN_VIEWER_TOKEN ?? null,
    baseUrl: baseUrl === undefined ? null : new URL(baseUrl).origin,
    sessionHours: values.ADMIN_SESSION_HOURS ?? 12,
    oidc: oidcOf(values),
  };
}

function oidcOf(values: Values): AccessConfig["oidc"] {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_CLIENT_ID: clientId } = values;
  const { ADMIN_OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret,
    scope: values.ADMIN_OIDC_SCOPES ?? "openid email",
    claim: values.ADMIN_OIDC_CLAIM ?? "email",
    operators: values.ADMIN_OIDC_OPERATORS ?? [],
    viewers: values.ADMIN_OIDC_VIEWERS ?? [],
  };
}

function checkProvider(values: Values, problems: Problems): void {
  if (values.ADMIN_OIDC_ISSUER === undefined) {
    const others = WITH_PROVIDER.filter((name) => values[name] !== undefined);
    if (others.length > 0)
      problems.add(others, "is set without ADMIN_OIDC_ISSUER, expected both", [...PROVIDER]);
    return;
  }
  if (values.ADMIN_BASE_URL === undefined) {
    const says =
      "is not set, expected with ADMIN_OIDC_ISSUER: the provider sends operators back to " +
      "<ADMIN_BASE_URL>/sign-in/oidc/callback";
    problems.add(["ADMIN_BASE_URL"], says);
  }
  if (values.ADMIN_OIDC_OPERATORS === undefined && values.ADMIN_OIDC_VIEWERS === undefined) {
    const says = "neither is set, expected one of them with ADMIN_OIDC_ISSUER: no operator could sign in";
    problems.add(["ADMIN_OIDC_OPERATORS", "ADMIN_OIDC_VIEWERS"], says);
  }
}

function checkHttps(values: Values, problems: Problems): void {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_BASE_URL: baseUrl } = values;
  if (issuer !== undefined && !issuer.startsWith("https:"))
    problems.add(
      ["ADMIN_OIDC_ISSUER"],
      `got ${JSON.stringify(issuer)}, expected an https address in production`,
    );
  if (baseUrl === undefined || baseUrl.startsWith("https:") || isLoopbackHost(new URL(baseUrl).hostname))
    return;
  const says = `got ${JSON.stringify(baseUrl)}, expected an https address in production: sessions would lie open on the way`;
  problems.add(["ADMIN_BASE_URL"], says);
}

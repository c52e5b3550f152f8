import { requireTogether } from "./check-values.ts";
import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";
import type { Values } from "./read-variables.ts";

const ADDRESSES = [
  "OAUTH_ISSUER",
  "OAUTH_AUTHORIZATION_URL",
  "OAUTH_TOKEN_URL",
  "OAUTH_REVOCATION_URL",
] as const;
const USER_INFO = ["OAUTH_USERINFO_URL", "OAUTH_USERINFO_ID"] as const;

/** The authorization server; null where none is configured and the sandbox platform stands in. */
export function oauthOf(values: Values, problems: Problems): Config["oauth"] {
  requireTogether(values, ["OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET"], problems);
  const { OAUTH_ISSUER: issuer, OAUTH_TOKEN_URL: tokenUrl } = values;
  const { OAUTH_CLIENT_ID: clientId, OAUTH_CLIENT_SECRET: clientSecret } = values;
  const server = issuer ?? tokenUrl;
  if (server === undefined && clientId !== undefined && clientSecret !== undefined) {
    problems.add(
      ["OAUTH_ISSUER", "OAUTH_TOKEN_URL"],
      "neither is set, expected one of them with OAUTH_CLIENT_ID",
    );
  }
  if (server !== undefined && clientId === undefined) {
    problems.add(["OAUTH_CLIENT_ID"], "is not set, expected with OAUTH_ISSUER or OAUTH_TOKEN_URL");
  }
  checkAddresses(values, problems);
  checkScope(values, problems);
  if (server === undefined || clientId === undefined || clientSecret === undefined) return null;
  return {
    issuer: issuer ?? null,
    authorizationUrl: values.OAUTH_AUTHORIZATION_URL ?? null,
    tokenUrl: tokenUrl ?? null,
    revocationUrl: values.OAUTH_REVOCATION_URL ?? null,
    clientId,
    clientSecret,
    scope: values.OAUTH_SCOPE ?? (issuer === undefined ? null : "openid"),
    userInfo: {
      ...(values.OAUTH_USERINFO_URL === undefined ? {} : { url: values.OAUTH_USERINFO_URL }),
      ...(values.OAUTH_USERINFO_ID === undefined ? {} : { idField: values.OAUTH_USERINFO_ID }),
    },
  };
}

/** An ID token is believed only when its issuer is known, and addresses alone do not tell it. */
function checkScope({ OAUTH_SCOPE: scope, OAUTH_ISSUER: issuer }: Values, problems: Problems): void {
  if (issuer !== undefined || !scope?.split(" ").includes("openid")) return;
  const says = `got ${JSON.stringify(scope)}, expected openid only with OAUTH_ISSUER, which ID tokens are checked against`;
  problems.add(["OAUTH_SCOPE"], says, ["OAUTH_ISSUER"]);
}

function checkAddresses(values: Values, problems: Problems): void {
  const others = ADDRESSES.slice(1).filter((name) => values[name] !== undefined);
  if (values.OAUTH_ISSUER !== undefined && others.length > 0) {
    problems.add(others, "is set with OAUTH_ISSUER, expected either discovery or addresses");
  }
  const isWithoutUse = values.OAUTH_ISSUER === undefined && values.OAUTH_TOKEN_URL === undefined;
  if (isWithoutUse && others.length > 0) {
    problems.add(others, "is set without OAUTH_TOKEN_URL, expected both", ["OAUTH_TOKEN_URL"]);
  }
  for (const name of USER_INFO) {
    if (values[name] !== undefined && isWithoutUse)
      problems.add([name], "is set without OAUTH_ISSUER or OAUTH_TOKEN_URL, expected one of them");
  }
  if (values.APP_ENV !== "production") return;
  for (const name of [...ADDRESSES, "OAUTH_USERINFO_URL"] as const) {
    const url = values[name];
    if (url !== undefined && !url.startsWith("https:"))
      problems.add([name], `got ${JSON.stringify(url)}, expected an https address in production`);
  }
}

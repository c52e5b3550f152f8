import type { Reading } from "./read-variables.ts";
import { httpUrl, longSecret, matching, oneOf, text, type VariableTable } from "./variable.ts";

const OF_FLOW = /^(response_type|client_id|redirect_uri|state|code_challenge(_method)?|response_mode|scope|nonce)$/;
const SANDBOX = "outside production, the sandbox platform";

export const OAUTH_VARIABLES = {
  OAUTH_ISSUER: { schema: httpUrl, httpsInProduction: true },
  OAUTH_AUTHORIZATION_URL: { schema: httpUrl, httpsInProduction: true, defaultText: SANDBOX },
  OAUTH_TOKEN_URL: { schema: httpUrl, httpsInProduction: true, defaultText: SANDBOX },
  OAUTH_REVOCATION_URL: { schema: httpUrl, httpsInProduction: true },
  OAUTH_USERINFO_URL: { schema: httpUrl, httpsInProduction: true, defaultText: "the discovered one" },
  OAUTH_USERINFO_ID: {
    schema: matching(/^[^\s.]{1,64}(\.[^\s.]{1,64}){0,4}$/, "a field's name, or a path such as data.id"),
    defaultText: "sub, id, user_id or login",
  },
  OAUTH_CLIENT_ID: { schema: text("the client id"), with: ["OAUTH_CLIENT_SECRET"] },
  OAUTH_CLIENT_SECRET: { schema: text("the client secret"), secret: "issued" },
  OAUTH_CLIENT_AUTH: {
    schema: oneOf("client_secret_basic", "client_secret_post"),
    defaultText: "the discovered one, else client_secret_basic",
  },
  OAUTH_SCOPE: { schema: text("scopes, separated by spaces"), defaultText: "openid with OAUTH_ISSUER" },
  OAUTH_AUTHORIZATION_PARAMETERS: {
    schema: text("a query without parameters of the flow itself, such as access_type=offline&prompt=consent").refine(
      (query) => [...new URLSearchParams(query).keys()].every((name) => !OF_FLOW.test(name)),
    ),
  },
  OAUTH_RESPONSE_MODE: { schema: oneOf("query", "form_post"), default: "query" },
  OAUTH_REDIRECT_URI: {
    schema: httpUrl.describe("the registered redirect address"),
    defaultText: "for flows started here, the redirect's own",
  },
  OAUTH_SUCCESS_URL: { schema: httpUrl, defaultText: "a page of our own" },
  OAUTH_SUCCESS_SECRET: { schema: longSecret, secret: "own" },
  OAUTH_SCOPE_PATH: {
    schema: matching(/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/, "")
      .refine((path) => !path.split("/").some((part) => part === "." || part === ".."))
      .describe("one or more path segments"),
    default: "platform",
  },
} satisfies VariableTable;

type OAuthReading = Reading<typeof OAUTH_VARIABLES>;

/** The authorization server; null where none is configured: the sandbox platform takes its place. */
export function oauthOf(reading: OAuthReading) {
  checkServer(reading);
  checkScope(reading);
  const { values } = reading;
  const { OAUTH_ISSUER: issuer, OAUTH_CLIENT_ID: clientId, OAUTH_CLIENT_SECRET: clientSecret } = values;
  const isWithoutServer = issuer === undefined && values.OAUTH_TOKEN_URL === undefined;
  if (isWithoutServer || clientId === undefined || clientSecret === undefined) return null;
  return {
    /** With it the endpoints are discovered; without it they are configured here. */
    issuer: issuer ?? null,
    authorizationUrl: values.OAUTH_AUTHORIZATION_URL ?? null,
    tokenUrl: values.OAUTH_TOKEN_URL ?? null,
    revocationUrl: values.OAUTH_REVOCATION_URL ?? null,
    clientId,
    clientSecret,
    scope: values.OAUTH_SCOPE ?? (issuer === undefined ? null : "openid"),
    userInfo: { url: values.OAUTH_USERINFO_URL, idField: values.OAUTH_USERINFO_ID },
    clientAuth: values.OAUTH_CLIENT_AUTH,
    authorizationParameters: values.OAUTH_AUTHORIZATION_PARAMETERS,
    acceptsTenants: true,
  };
}

export function redirectOf({ values }: OAuthReading, baseUrl: string) {
  const scopePath = values.OAUTH_SCOPE_PATH;
  return {
    scopePath,
    uri: values.OAUTH_REDIRECT_URI ?? `${baseUrl}/api/${scopePath}/oauth-callback`,
    /** Whether the exchange also sends it for flows that were not started here. */
    isUriGiven: values.OAUTH_REDIRECT_URI !== undefined,
    responseMode: values.OAUTH_RESPONSE_MODE,
    /** As a Location header carries it: percent-encoded, the host in Punycode. */
    successUrl: URL.parse(values.OAUTH_SUCCESS_URL ?? "")?.href ?? null,
    successSecret: values.OAUTH_SUCCESS_SECRET,
  };
}

/** Without an address to send browsers to, there is no address at which they could begin; production has no sandbox. */
export function startsFlows({ oauth, environment }: OAuthConfig): boolean {
  if (oauth === null) return environment !== "production";
  return oauth.issuer !== null || oauth.authorizationUrl !== null;
}

interface OAuthConfig {
  readonly oauth: Pick<NonNullable<ReturnType<typeof oauthOf>>, "issuer" | "authorizationUrl"> | null;
  readonly environment: string;
}

const ENDPOINTS = ["OAUTH_AUTHORIZATION_URL", "OAUTH_TOKEN_URL", "OAUTH_REVOCATION_URL"] as const;

function checkServer({ values, problems }: OAuthReading): void {
  if (values.OAUTH_SUCCESS_SECRET !== undefined && values.OAUTH_SUCCESS_URL === undefined)
    problems.add(["OAUTH_SUCCESS_SECRET"], "is set without OAUTH_SUCCESS_URL, expected both");
  const { OAUTH_ISSUER: issuer, OAUTH_TOKEN_URL: tokenUrl, OAUTH_CLIENT_ID: clientId } = values;
  const endpoints = ENDPOINTS.filter((name) => values[name] !== undefined);
  if (issuer !== undefined && endpoints.length > 0)
    problems.add(endpoints, "is set with OAUTH_ISSUER, expected either discovery or addresses");
  if (issuer !== undefined || tokenUrl !== undefined) {
    if (clientId === undefined)
      problems.add(["OAUTH_CLIENT_ID"], "is not set, expected with OAUTH_ISSUER or OAUTH_TOKEN_URL");
    return;
  }
  if (clientId !== undefined && values.OAUTH_CLIENT_SECRET !== undefined) {
    const message = "neither is set, expected one of them with OAUTH_CLIENT_ID";
    problems.add(["OAUTH_ISSUER", "OAUTH_TOKEN_URL"], message);
  }
  if (endpoints.length > 0)
    problems.add(endpoints, "is set without OAUTH_TOKEN_URL, expected both", ["OAUTH_TOKEN_URL"]);
  for (const name of (["OAUTH_USERINFO_URL", "OAUTH_USERINFO_ID"] as const).filter((one) => values[one] !== undefined))
    problems.add([name], "is set without OAUTH_ISSUER or OAUTH_TOKEN_URL, expected one of them");
}

/** An ID token is checked against its issuer, which addresses do not tell. */
function checkScope({ values, problems }: OAuthReading): void {
  const { OAUTH_SCOPE: scope, OAUTH_ISSUER: issuer } = values;
  if (issuer !== undefined || !scope?.split(" ").includes("openid")) return;
  const message = `got ${JSON.stringify(scope)}, expected openid only with OAUTH_ISSUER, which ID tokens are checked against`;
  problems.add(["OAUTH_SCOPE"], message, ["OAUTH_ISSUER"]);
}

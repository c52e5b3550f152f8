import { isLoopbackHost } from "./public-host.ts";
import type { Reading } from "./read-variables.ts";
import { flag, httpUrl, list, matching, port, text, type VariableTable, wholeNumber } from "./variable.ts";

const token = matching(/^[\x21-\x7e]{16,}$/, "at least 16 printable characters without spaces");
const claimValues = list("")
  .refine((items) => items.length > 0)
  .describe("values of the claim, separated by commas");

export const ADMIN_VARIABLES = {
  ADMIN_HOST: { schema: text("an address to listen on"), default: "127.0.0.1" },
  ADMIN_PORT: { schema: port, default: "8081" },
  ADMIN_ALLOW_PLAIN_HTTP: { schema: flag, default: "false" },
  ADMIN_TOKEN: {
    schema: token,
    secret: "own",
    generated: true,
    neededInProduction: "at least 16 characters, such as from: openssl rand -hex 24",
  },
  ADMIN_VIEWER_TOKEN: { schema: token, secret: "own" },
  ADMIN_BASE_URL: {
    schema: httpUrl
      .refine((url) => new URL(url).pathname === "/" && new URL(url).search === "")
      .describe("an http(s) address without a path; in production https, except for a loopback one"),
    defaultText: "the listener's own",
  },
  ADMIN_SESSION_HOURS: { schema: wholeNumber(1, 720), default: "12" },
  ADMIN_OIDC_ISSUER: {
    schema: httpUrl,
    httpsInProduction: true,
    with: ["ADMIN_OIDC_CLIENT_ID", "ADMIN_OIDC_CLIENT_SECRET"],
  },
  ADMIN_OIDC_CLIENT_ID: { schema: text("the client id") },
  ADMIN_OIDC_CLIENT_SECRET: { schema: text("the client secret"), secret: "issued" },
  ADMIN_OIDC_SCOPES: {
    schema: text("")
      .refine((scopes) => scopes.split(" ").includes("openid"))
      .describe("scopes with openid among them, separated by spaces"),
    default: "openid email",
  },
  ADMIN_OIDC_CLAIM: { schema: matching(/^\S{1,200}$/, "a claim's name"), default: "email" },
  ADMIN_OIDC_OPERATORS: { schema: claimValues, defaultText: "none" },
  ADMIN_OIDC_VIEWERS: { schema: claimValues, defaultText: "none" },
} satisfies VariableTable;

type AdminReading = Reading<typeof ADMIN_VARIABLES>;

export function adminOf(reading: AdminReading, listen: { readonly host: string; readonly port: number }) {
  checkPort(reading, listen);
  checkProvider(reading);
  checkHttps(reading);
  const { values } = reading;
  const { ADMIN_BASE_URL: baseUrl } = values;
  return {
    host: values.ADMIN_HOST,
    port: values.ADMIN_PORT,
    viewerToken: values.ADMIN_VIEWER_TOKEN ?? null,
    /** The origin that operators use; null where it is the listener's own. */
    baseUrl: baseUrl === undefined ? null : new URL(baseUrl).origin,
    sessionHours: values.ADMIN_SESSION_HOURS,
    oidc: oidcOf(values),
  };
}

function oidcOf(values: AdminReading["values"]) {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_CLIENT_ID: clientId } = values;
  const { ADMIN_OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret,
    scope: values.ADMIN_OIDC_SCOPES,
    claim: values.ADMIN_OIDC_CLAIM,
    operators: values.ADMIN_OIDC_OPERATORS ?? [],
    viewers: values.ADMIN_OIDC_VIEWERS ?? [],
  };
}

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** Two listeners cannot share a port of one address, nor of all addresses and one of them. */
function checkPort({ values, problems }: AdminReading, listen: Parameters<typeof adminOf>[1]): void {
  const { ADMIN_HOST: host, ADMIN_PORT: number } = values;
  if (listen.port !== number || number === 0) return;
  if (listen.host !== host && ![listen.host, host].some((one) => EVERY_ADDRESS.includes(one))) return;
  const message = `got ${number}, expected another port than PORT: the two listeners need one each`;
  problems.add(["ADMIN_PORT"], message, ["PORT"]);
}

const PROVIDER = ["ADMIN_OIDC_ISSUER", "ADMIN_OIDC_CLIENT_ID", "ADMIN_OIDC_CLIENT_SECRET"];
const USERS = ["ADMIN_OIDC_OPERATORS", "ADMIN_OIDC_VIEWERS"] as const;

function checkProvider({ values, problems, isSet }: AdminReading): void {
  if (values.ADMIN_OIDC_ISSUER === undefined) {
    const others = (["ADMIN_OIDC_SCOPES", "ADMIN_OIDC_CLAIM", ...USERS] as const).filter((name) => isSet(name));
    if (others.length > 0) problems.add(others, "is set without ADMIN_OIDC_ISSUER, expected both", PROVIDER);
    return;
  }
  if (values.ADMIN_BASE_URL === undefined)
    problems.add(
      ["ADMIN_BASE_URL"],
      "is not set, expected with ADMIN_OIDC_ISSUER: the provider sends operators back to <ADMIN_BASE_URL>/sign-in/oidc/callback",
    );
  if (USERS.every((name) => values[name] === undefined))
    problems.add(USERS, "neither is set, expected one of them with ADMIN_OIDC_ISSUER: no operator could sign in");
}

function checkHttps({ values, isProduction, problems }: AdminReading): void {
  const { ADMIN_BASE_URL: baseUrl } = values;
  if (!isProduction || baseUrl === undefined || baseUrl.startsWith("https:")) return;
  if (isLoopbackHost(new URL(baseUrl).hostname)) return;
  const expected = "expected an https address in production: sessions would cross the network in clear";
  problems.add(["ADMIN_BASE_URL"], `got ${JSON.stringify(baseUrl)}, ${expected}`);
}

import type { AuthMethod } from "./authentication-variables.ts";
import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";
import type { Values } from "./read-variables.ts";

const DEFAULT_HEADERS = { token: "X-Callback-Token", jwt: "Authorization" };

/** How callbacks are authenticated; what is missing for a chosen method is added to the problems. */
export function authenticationOf(values: Values, problems: Problems): Config["authentication"] {
  const methods = values.AUTH_METHOD ?? [["hmac"]];
  const chosen = new Set(methods.flat());
  checkChoices(methods, values, problems);
  // What production needs it says itself.
  if (chosen.has("hmac") && values.SIGNING_SECRET === undefined && values.APP_ENV !== "production") {
    missing("SIGNING_SECRET", "hmac", problems);
  }
  if (chosen.has("token") && values.CALLBACK_TOKEN === undefined)
    missing("CALLBACK_TOKEN", "token", problems);
  if (chosen.has("jwt")) checkJwt(values, problems);
  return {
    methods,
    signing: {
      secrets: present([values.SIGNING_SECRET, values.SIGNING_SECRET_PREVIOUS]),
      toleranceSeconds: values.SIGNATURE_TOLERANCE_SECONDS ?? null,
    },
    diagnoseSecretsFile: values.DIAGNOSE_SECRETS_FILE ?? null,
    token: {
      tokens: present([values.CALLBACK_TOKEN, ...(values.CALLBACK_TOKEN_PREVIOUS ?? [])]),
      header: values.CALLBACK_TOKEN_HEADER ?? DEFAULT_HEADERS.token,
    },
    jwt: jwtOf(values),
  };
}

/** Choices that say nothing, or that no request can meet. */
function checkChoices(methods: readonly (readonly AuthMethod[])[], values: Values, problems: Problems): void {
  const got = JSON.stringify(methods.map((all) => all.join("+")).join(","));
  for (const [index, all] of methods.entries()) {
    const larger = methods.find((other, place) => place !== index && all.every((one) => other.includes(one)));
    if (larger === undefined) continue;
    const says = `${all.join("+")} is enough by itself, so ${larger.join("+")} asks for nothing`;
    problems.add(["AUTH_METHOD"], `got ${got}, expected no choice that holds another one: ${says}`);
  }
  const token = values.CALLBACK_TOKEN_HEADER ?? DEFAULT_HEADERS.token;
  const jwt = values.JWT_HEADER ?? DEFAULT_HEADERS.jwt;
  const areBoth = methods.some((all) => all.includes("token") && all.includes("jwt"));
  if (areBoth && token.toLowerCase() === jwt.toLowerCase()) {
    const says = `got ${JSON.stringify(token)} for both, expected two: one header carries one token, and AUTH_METHOD asks for both`;
    problems.add(["CALLBACK_TOKEN_HEADER", "JWT_HEADER"], says, ["AUTH_METHOD"]);
  }
}

function jwtOf(values: Values): Config["authentication"]["jwt"] {
  const { JWT_ALGORITHM: algorithm, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = values;
  if (algorithm === undefined || issuer === undefined || audience === undefined) return null;
  return {
    algorithm,
    issuer,
    audience,
    keys: keysOf(values),
    header: values.JWT_HEADER ?? DEFAULT_HEADERS.jwt,
    clockToleranceSeconds: values.JWT_CLOCK_TOLERANCE_SECONDS ?? 30,
    bodyClaim: values.JWT_BODY_CLAIM ?? null,
  };
}

function keysOf(values: Values): NonNullable<Config["authentication"]["jwt"]>["keys"] {
  if (values.JWT_JWKS_URL !== undefined) return { from: "jwks", url: values.JWT_JWKS_URL };
  if (values.JWT_PUBLIC_KEY_FILE !== undefined) return { from: "pem", file: values.JWT_PUBLIC_KEY_FILE };
  return { from: "secrets", secrets: present([values.JWT_SECRET, values.JWT_SECRET_PREVIOUS]) };
}

const KEY_SOURCES = ["JWT_SECRET", "JWT_PUBLIC_KEY_FILE", "JWT_JWKS_URL"] as const;

function checkJwt(values: Values, problems: Problems): void {
  for (const name of ["JWT_ALGORITHM", "JWT_ISSUER", "JWT_AUDIENCE"] as const) {
    if (values[name] === undefined) missing(name, "jwt", problems);
  }
  checkKeySource(values, problems);
  const { JWT_JWKS_URL: url } = values;
  if (values.APP_ENV === "production" && url !== undefined && !url.startsWith("https:")) {
    problems.add(["JWT_JWKS_URL"], `got ${JSON.stringify(url)}, expected an https address in production`);
  }
}

function checkKeySource(values: Values, problems: Problems): void {
  const { JWT_ALGORITHM: algorithm } = values;
  const sources = KEY_SOURCES.filter((name) => values[name] !== undefined || problems.has(name));
  if (algorithm === undefined) {
    if (sources.length > 0) return;
    const says =
      "none is set, expected one with AUTH_METHOD=jwt: JWT_SECRET for HS256, one of the others for all other algorithms";
    problems.add(KEY_SOURCES, says, ["AUTH_METHOD"]);
    return;
  }
  const wanted = algorithm === "HS256" ? ["JWT_SECRET"] : ["JWT_PUBLIC_KEY_FILE", "JWT_JWKS_URL"];
  // A public key that is taken for an HS256 secret would let anybody sign (RFC 8725 §2.1).
  if (sources.length === 1 && wanted.includes(sources[0] as string)) return;
  const got = sources.length === 0 ? "none of them" : sources.join(" and ");
  problems.add([`JWT_ALGORITHM=${algorithm}`], `got ${got}, expected ${wanted.join(" or ")} alone`);
}

function missing(name: string, method: string, problems: Problems): void {
  problems.add([name], `is not set, expected with AUTH_METHOD=${method}`, ["AUTH_METHOD", "APP_ENV"]);
}

function present<Value>(values: readonly (Value | undefined)[]): Value[] {
  return values.filter((value) => value !== undefined);
}

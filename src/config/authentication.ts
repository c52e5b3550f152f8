import { BUILT_IN_PROTOCOL } from "../domain/index.ts";
import type { Reading } from "./read-variables.ts";
import {
  httpUrl,
  list,
  longSecret,
  matching,
  oneOf,
  orOff,
  text,
  type VariableTable,
  wholeNumber,
} from "./variable.ts";

const AUTH_METHODS = ["hmac", "token", "jwt"] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

const methods = text("hmac, token or jwt; a+b: both, a,b: either")
  .transform((raw) => raw.split(",").map((choice) => choice.split("+").map((name) => name.trim())))
  .refine((choices) => choices.flat().every((name) => AUTH_METHODS.some((method) => method === name)))
  .refine((choices) => choices.every((all) => new Set(all).size === all.length))
  .transform((choices) => choices as AuthMethod[][]);
const token = matching(/^[\x21-\x2b\x2d-\x7e]{16,}$/, "at least 16 printable characters without spaces or commas");
/** HTTP, a proxy or this service reads these for another purpose: they cannot carry a credential as well. */
const RESERVED =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-.*|accept.*|expect|date|via|forwarded|x-forwarded-.*|cookie|origin|referer|user-agent|sec-.*|proxy-.*|www-authenticate|x-(signature|timestamp|event-type|api-version))$/i;
/** RFC 9110 §5.1: a field name is a token. */
const headerName = matching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "")
  .refine((name) => !RESERVED.test(name))
  .describe("a header's name that means nothing else, as Host or X-Signature do");
/** Compared exactly: invisible white space would reject every token. */
const claim = (name: string) =>
  text("")
    .refine((value) => value.trim() === value)
    .describe(`the claim ${name}, without white space around it`);

export const AUTHENTICATION_VARIABLES = {
  AUTH_METHOD: { schema: methods, default: "hmac" },
  SIGNING_SECRET: {
    schema: text("at least 16 bytes (32 in production) without white space around it"),
    secret: "own",
    generated: true,
  },
  SIGNING_SECRET_PREVIOUS: { schema: text("at least 16 bytes without white space around it"), secret: "previous" },
  SIGNATURE_TOLERANCE_SECONDS: { schema: orOff(wholeNumber(1, 86_400), "whole seconds, or off"), default: "off" },
  DIAGNOSE_SECRETS_FILE: { schema: text("a file of name=secret lines, mode 0600 or 0640") },
  CALLBACK_TOKEN: { schema: token, secret: "own" },
  CALLBACK_TOKEN_PREVIOUS: {
    schema: list("tokens, separated by commas", (one) => token.accepts(one)),
    default: "",
    secret: "previous",
  },
  CALLBACK_TOKEN_HEADER: { schema: headerName, default: "X-Callback-Token" },
  JWT_ALGORITHM: { schema: oneOf("HS256", "RS256", "PS256", "ES256", "EdDSA") },
  JWT_SECRET: { schema: longSecret, secret: "own" },
  JWT_SECRET_PREVIOUS: { schema: longSecret, secret: "previous" },
  JWT_PUBLIC_KEY_FILE: { schema: text("a PEM file with public keys or certificates") },
  JWT_JWKS_URL: { schema: httpUrl, httpsInProduction: true },
  JWT_ISSUER: { schema: claim("iss") },
  JWT_AUDIENCE: { schema: claim("aud") },
  JWT_HEADER: { schema: headerName, default: "Authorization" },
  JWT_CLOCK_TOLERANCE_SECONDS: { schema: wholeNumber(0, 300), default: "30" },
  JWT_BODY_CLAIM: { schema: orOff(matching(/^[\x21-\x7e]{1,128}$/, ""), "a claim's name, or off"), default: "off" },
} satisfies VariableTable;

type AuthenticationReading = Reading<typeof AUTHENTICATION_VARIABLES>;

/** The rest of the configuration: it decides whether the built-in protocol is wanted. */
interface BesideAuthentication {
  readonly sourceCount: number;
  /** The types of the platform's handlers that were asked for, without OAuth's. */
  readonly handledTypes: readonly string[];
}

/**
 * Whether the built-in protocol is served. Production serves only the other sources if nothing asks for it: it would
 * demand a secret that no platform has.
 */
export function isPlatformServed(
  { isProduction, isSet, problems }: AuthenticationReading,
  { sourceCount, handledTypes }: BesideAuthentication,
  isEmbedded = false,
): boolean {
  const variables = ["AUTH_METHOD", "SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS"] as const;
  const isAskedFor = variables.some((name) => isSet(name) || problems.reported.has(name)) || handledTypes.length > 0;
  return isAskedFor || sourceCount === 0 || (!isProduction && !isEmbedded);
}

/** The authentication of callbacks; a missing variable of a chosen method becomes a problem. */
export function authenticationOf(
  reading: AuthenticationReading,
  beside: BesideAuthentication,
  servesPlatform: boolean,
) {
  const { values } = reading;
  checkSecrets(reading);
  if (servesPlatform) checkMethods(reading, beside);
  return {
    /** One of these combinations must succeed, with all of its methods. */
    methods: values.AUTH_METHOD,
    signing: {
      secrets: [values.SIGNING_SECRET, values.SIGNING_SECRET_PREVIOUS].filter((one) => one !== undefined),
      toleranceSeconds: values.SIGNATURE_TOLERANCE_SECONDS,
    },
    diagnoseSecretsFile: values.DIAGNOSE_SECRETS_FILE ?? null,
    token: {
      tokens: [values.CALLBACK_TOKEN, ...values.CALLBACK_TOKEN_PREVIOUS].filter((one) => one !== undefined),
      header: values.CALLBACK_TOKEN_HEADER,
    },
    jwt: jwtOf(reading),
  };
}

/** The signing secret's length differs by environment; a previous one may be older than production's bound. */
function checkSecrets({ values, isProduction, problems }: AuthenticationReading): void {
  for (const name of ["SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS"] as const) {
    const secret = values[name];
    if (secret === undefined) continue;
    const isLong = isProduction && name === "SIGNING_SECRET";
    const [least, where] = isLong ? [32, " in production"] : [16, ""];
    const bytes = Buffer.byteLength(secret);
    if (bytes < least) problems.add([name], `got a value of ${bytes} bytes, expected at least ${least} bytes${where}`);
    if (secret.trim() !== secret) problems.add([name], "got a value with white space around it, expected none");
  }
}

function checkMethods(reading: AuthenticationReading, beside: BesideAuthentication): void {
  const { values, isProduction, problems } = reading;
  const { AUTH_METHOD: choices, CALLBACK_TOKEN_HEADER: tokenHeader, JWT_HEADER: jwtHeader } = values;
  const got = JSON.stringify(choices.map((all) => all.join("+")).join(","));
  for (const [index, all] of choices.entries()) {
    const larger = choices.find((other, place) => place !== index && all.every((one) => other.includes(one)));
    if (larger === undefined) continue;
    const reason = `${all.join("+")} is enough by itself, so ${larger.join("+")} asks for nothing`;
    problems.add(["AUTH_METHOD"], `got ${got}, expected no choice that holds another one: ${reason}`);
  }
  const needsBoth = choices.some((all) => all.includes("token") && all.includes("jwt"));
  if (needsBoth && tokenHeader.toLowerCase() === jwtHeader.toLowerCase()) {
    const expected = "expected two: one header carries one token, and AUTH_METHOD asks for both";
    const names = ["CALLBACK_TOKEN_HEADER", "JWT_HEADER"];
    problems.add(names, `got ${JSON.stringify(tokenHeader)} for both, ${expected}`, ["AUTH_METHOD"]);
  }
  const chosen = new Set(choices.flat());
  if (chosen.has("hmac") && isProduction && values.SIGNING_SECRET === undefined) {
    problems.add(["SIGNING_SECRET"], neededSecret(reading, beside), ["AUTH_METHOD"]);
  }
  for (const method of AUTH_METHODS.filter((one) => chosen.has(one)))
    for (const name of NEEDED[method].filter((one) => values[one] === undefined))
      problems.add([name], `is not set, expected with AUTH_METHOD=${method}`, ["AUTH_METHOD", "APP_ENV"]);
  if (chosen.has("jwt")) checkKeySource(reading);
}

const NEEDED = {
  hmac: ["SIGNING_SECRET"],
  token: ["CALLBACK_TOKEN"],
  jwt: ["JWT_ALGORITHM", "JWT_ISSUER", "JWT_AUDIENCE"],
} as const;

function neededSecret({ isSet }: AuthenticationReading, { sourceCount, handledTypes }: BesideAuthentication): string {
  const needs = `is not set; in production ${BUILT_IN_PROTOCOL} needs the secret that its sender shares`;
  if (isSet("AUTH_METHOD") || isSet("SIGNING_SECRET_PREVIOUS")) return needs;
  if (sourceCount > 0) return `${needs}, which the handlers of ${handledTypes.join(", ")} are for`;
  return `${needs}, or other sources in its place (SOURCES, or \`sources\` in oncehook.config.ts)`;
}

const KEY_SOURCES = ["JWT_SECRET", "JWT_PUBLIC_KEY_FILE", "JWT_JWKS_URL"] as const;

function checkKeySource({ values, problems }: AuthenticationReading): void {
  const { JWT_ALGORITHM: algorithm } = values;
  const sources = KEY_SOURCES.filter((name) => values[name] !== undefined || problems.reported.has(name));
  if (algorithm === undefined) {
    if (sources.length > 0) return;
    const message =
      "none is set, expected one with AUTH_METHOD=jwt: JWT_SECRET for HS256, one of the others for all other algorithms";
    problems.add(KEY_SOURCES, message, ["AUTH_METHOD"]);
    return;
  }
  const allowed = algorithm === "HS256" ? ["JWT_SECRET"] : ["JWT_PUBLIC_KEY_FILE", "JWT_JWKS_URL"];
  // A public key taken for an HS256 secret would let anyone sign (RFC 8725 §2.1).
  if (sources.length === 1 && allowed.includes(String(sources[0]))) return;
  const got = sources.length === 0 ? "none of them" : sources.join(" and ");
  problems.add([`JWT_ALGORITHM=${algorithm}`], `got ${got}, expected ${allowed.join(" or ")} alone`);
}

function jwtOf({ values }: AuthenticationReading) {
  const { JWT_ALGORITHM: algorithm, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = values;
  if (algorithm === undefined || issuer === undefined || audience === undefined) return null;
  return {
    algorithm,
    issuer,
    audience,
    keys: keysOf(values),
    header: values.JWT_HEADER,
    clockToleranceSeconds: values.JWT_CLOCK_TOLERANCE_SECONDS,
    bodyClaim: values.JWT_BODY_CLAIM,
  };
}

function keysOf(values: AuthenticationReading["values"]) {
  if (values.JWT_JWKS_URL !== undefined) return { from: "jwks", url: values.JWT_JWKS_URL } as const;
  if (values.JWT_PUBLIC_KEY_FILE !== undefined) return { from: "pem", file: values.JWT_PUBLIC_KEY_FILE } as const;
  const secrets = [values.JWT_SECRET, values.JWT_SECRET_PREVIOUS].filter((one) => one !== undefined);
  return { from: "secrets", secrets } as const;
}

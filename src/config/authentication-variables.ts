import { z } from "zod";
import { list, orOff, variable, wholeNumber } from "./variable.ts";

const text = z.string();
const SECRET_WORDS = "at least 16 bytes (32 in production) without white space around it";
const TOKEN_WORDS = "at least 16 printable characters without spaces or commas";
const HEADER_WORDS = "a header's name that means nothing else, as Host or X-Signature do";

export const AUTH_METHODS = ["hmac", "token", "jwt"] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

const isMethod = (name: string): name is AuthMethod => (AUTH_METHODS as readonly string[]).includes(name);
const methods = text
  .transform((choices) => choices.split(",").map((choice) => choice.split("+").map((name) => name.trim())))
  .refine(
    (choices) => choices.flat().every(isMethod) && choices.every((all) => new Set(all).size === all.length),
  )
  .transform((choices) => choices as AuthMethod[][]);
const token = text.regex(/^[\x21-\x2b\x2d-\x7e]{16,}$/);
/** What HTTP, a proxy or this service itself reads in these would be taken for a credential, or the other way round. */
const RESERVED =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-.*|accept.*|expect|date|via|forwarded|x-forwarded-.*|cookie|origin|referer|user-agent|sec-.*|proxy-.*|www-authenticate|x-(signature|timestamp|event-type|api-version))$/i;
/** RFC 9110 §5.1: a field name is a token. */
const headerName = text.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/).refine((name) => !RESERVED.test(name));
/** Compared exactly: invisible white space would reject every token. */
const claim = text.refine((value) => value.trim() === value);

/** How callbacks are authenticated (SPEC 5). */
export const AUTHENTICATION_VARIABLES = {
  AUTH_METHOD: variable({
    expects: "hmac, token or jwt; a+b: both, a,b: either",
    default: "hmac",
    meaning: "How callbacks are authenticated",
    schema: methods,
  }),
  SIGNING_SECRET: variable({
    expects: SECRET_WORDS,
    default: "outside production, generated",
    secret: true,
    meaning: "hmac: the secret shared with the platform",
    schema: text,
  }),
  SIGNING_SECRET_PREVIOUS: variable({
    expects: "at least 16 bytes without white space around it",
    default: "",
    secret: true,
    meaning: "The secret before it: both verify while it is rotated",
    schema: text,
  }),
  SIGNATURE_TOLERANCE_SECONDS: variable({
    expects: "whole seconds, or off",
    default: "off",
    meaning: "How far X-Timestamp may lie from now; it is not signed, so this alone stops no replay",
    schema: orOff(wholeNumber(1, 86_400)),
  }),
  DIAGNOSE_SECRETS_FILE: variable({
    expects: "a file of name=secret lines, mode 0600 or 0640",
    default: "",
    meaning: "Secrets of other environments, never accepted: they tell why a callback was refused",
    schema: text,
  }),
  CALLBACK_TOKEN: variable({
    expects: TOKEN_WORDS,
    default: "",
    secret: true,
    meaning:
      "token: what the platform sends; it says nothing of the body, so combine it with hmac where you can",
    schema: token,
  }),
  CALLBACK_TOKEN_PREVIOUS: variable({
    expects: "tokens, separated by commas",
    default: "",
    secret: true,
    meaning: "Tokens before it, valid while they are rotated",
    schema: list().refine((tokens) => tokens.every((one) => token.safeParse(one).success)),
  }),
  CALLBACK_TOKEN_HEADER: variable({
    expects: HEADER_WORDS,
    default: "X-Callback-Token",
    meaning: "Where it stands; Authorization expects Bearer <token>",
    schema: headerName,
  }),
  JWT_ALGORITHM: variable({
    expects: "HS256, RS256, PS256, ES256 or EdDSA",
    default: "",
    meaning: "jwt: the one algorithm that is accepted",
    schema: z.enum(["HS256", "RS256", "PS256", "ES256", "EdDSA"]),
  }),
  JWT_SECRET: variable({
    expects: "at least 32 bytes",
    default: "",
    secret: true,
    meaning: "HS256: the secret shared with the platform",
    schema: text.refine((secret) => Buffer.byteLength(secret) >= 32),
  }),
  JWT_SECRET_PREVIOUS: variable({
    expects: "at least 32 bytes",
    default: "",
    secret: true,
    meaning: "The secret before it, valid while it is rotated",
    schema: text.refine((secret) => Buffer.byteLength(secret) >= 32),
  }),
  JWT_PUBLIC_KEY_FILE: variable({
    expects: "a PEM file with public keys or certificates",
    default: "",
    meaning: "The other algorithms: the platform's keys, the current one first",
    schema: text,
  }),
  JWT_JWKS_URL: variable({
    expects: "an http(s) address; in production https",
    default: "",
    meaning: "Or where the platform publishes them as a JWK Set",
    schema: text.refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? "")),
  }),
  JWT_ISSUER: variable({
    expects: "the claim iss, without white space around it",
    default: "",
    meaning: "Whose tokens are accepted",
    schema: claim,
  }),
  JWT_AUDIENCE: variable({
    expects: "the claim aud, without white space around it",
    default: "",
    meaning: "Whom the tokens must be made for: us",
    schema: claim,
  }),
  JWT_HEADER: variable({
    expects: HEADER_WORDS,
    default: "Authorization",
    meaning: "Where the token stands; Authorization expects Bearer <token>",
    schema: headerName,
  }),
  JWT_CLOCK_TOLERANCE_SECONDS: variable({
    expects: "a whole number from 0 to 300",
    default: "30",
    meaning: "How far the platform's clock may be off for exp and nbf",
    schema: wholeNumber(0, 300),
  }),
  JWT_BODY_CLAIM: variable({
    expects: "a claim's name, or off",
    default: "off",
    meaning: "The claim with the body's SHA-256 in hexadecimal; without it a token says nothing of the body",
    schema: orOff(text.regex(/^[\x21-\x7e]{1,128}$/)),
  }),
} as const;

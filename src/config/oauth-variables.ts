import { z } from "zod";
import { httpUrl, key32, list, variable } from "./variable.ts";

const text = z.string();
const segments = text.regex(/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/);

/** The authorization server, and what its tokens are kept under. */
export const OAUTH_VARIABLES = {
  ENCRYPTION_KEY: variable({
    expects: "32 bytes as base64 or 64 hexadecimal digits",
    default: "outside production, generated",
    secret: true,
    meaning: "Encrypts tokens and stored bodies",
    schema: key32,
  }),
  ENCRYPTION_KEY_PREVIOUS: variable({
    expects: "such keys, separated by commas",
    default: "",
    secret: true,
    meaning: "Keys before it: what they encrypted can still be read",
    schema: list()
      .refine((keys) => keys.every((key) => key32.safeParse(key).success))
      .transform((keys) => keys.map((key): Uint8Array => key32.parse(key))),
  }),
  OAUTH_ISSUER: variable({
    expects: "an http(s) address; in production https",
    default: "",
    meaning: "The authorization server's; its endpoints are discovered, and OpenID Connect is spoken",
    schema: httpUrl,
  }),
  OAUTH_AUTHORIZATION_URL: variable({
    expects: "an http(s) address; in production https",
    default: "outside production, the sandbox platform",
    meaning: "Or, without discovery: where a flow starts",
    schema: httpUrl,
  }),
  OAUTH_TOKEN_URL: variable({
    expects: "an http(s) address; in production https",
    default: "outside production, the sandbox platform",
    meaning: "Where codes and refresh tokens are exchanged",
    schema: httpUrl,
  }),
  OAUTH_REVOCATION_URL: variable({
    expects: "an http(s) address; in production https",
    default: "",
    meaning: "Where tokens are revoked",
    schema: httpUrl,
  }),
  OAUTH_USERINFO_URL: variable({
    expects: "an http(s) address; in production https",
    default: "the discovered one",
    meaning: "Asked with the access token whose it is, where the token endpoint names no user",
    schema: httpUrl,
  }),
  OAUTH_USERINFO_ID: variable({
    expects: "a field's name, or a path such as data.id",
    default: "sub, id, user_id or login",
    meaning: "The field of its answer that is the user's id, a text or an integer",
    schema: text.regex(/^[^\s.]{1,64}(\.[^\s.]{1,64}){0,4}$/),
  }),
  OAUTH_CLIENT_ID: variable({
    expects: "the client id",
    default: "",
    meaning: "Ours, at the platform",
    schema: text,
  }),
  OAUTH_CLIENT_SECRET: variable({
    expects: "the client secret",
    default: "",
    secret: true,
    meaning: "Sent in the Authorization header of the exchange",
    schema: text,
  }),
  OAUTH_SCOPE: variable({
    expects: "scopes, separated by spaces",
    default: "openid with OAUTH_ISSUER",
    meaning: "What is asked for",
    schema: text,
  }),
  OAUTH_RESPONSE_MODE: variable({
    expects: "query or form_post",
    default: "query",
    meaning: "How the platform sends the browser back",
    schema: z.enum(["query", "form_post"]),
  }),
  OAUTH_REDIRECT_URI: variable({
    expects: "the registered redirect address",
    default: "for flows started here, the redirect's own",
    meaning: "Sent with the exchange where the platform wants it",
    schema: httpUrl,
  }),
  OAUTH_SUCCESS_URL: variable({
    expects: "an http(s) address",
    default: "a page of our own",
    meaning: "Where a browser goes after its flow",
    schema: httpUrl,
  }),
  OAUTH_SCOPE_PATH: variable({
    expects: "one or more path segments",
    default: "platform",
    meaning: "The <scope> in /api/<scope>/oauth-callback",
    schema: segments.refine((path) => !path.split("/").some((part) => part === "." || part === "..")),
  }),
} as const;

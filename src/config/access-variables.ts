import { z } from "zod";
import { httpUrl, list, variable, wholeNumber } from "./variable.ts";

const text = z.string();
const names = list().refine((items) => items.length > 0);

/** Admin access besides ADMIN_TOKEN. */
export const ACCESS_VARIABLES = {
  ADMIN_VIEWER_TOKEN: variable({
    expects: "at least 16 printable characters without spaces",
    default: "",
    secret: true,
    meaning: "A second, read-only token",
    schema: text.regex(/^[\x21-\x7e]{16,}$/),
  }),
  ADMIN_BASE_URL: variable({
    expects: "an http(s) address without a path; in production https, but for a loopback one",
    default: "the listener's own",
    meaning: "The address at which operators reach the admin listener, through a proxy that ends TLS",
    schema: httpUrl.refine((url) => {
      const { pathname, search } = new URL(url);
      return pathname === "/" && search === "";
    }),
  }),
  ADMIN_SESSION_HOURS: variable({
    expects: "a whole number from 1 to 720",
    default: "12",
    meaning: "How long a session lasts",
    schema: wholeNumber(1, 720),
  }),
  ADMIN_OIDC_ISSUER: variable({
    expects: "an http(s) address; in production https",
    default: "",
    meaning: "The OpenID provider that signs operators in; its endpoints are discovered",
    schema: httpUrl,
  }),
  ADMIN_OIDC_CLIENT_ID: variable({
    expects: "the client id",
    default: "",
    meaning: "Ours, at the provider",
    schema: text,
  }),
  ADMIN_OIDC_CLIENT_SECRET: variable({
    expects: "the client secret",
    default: "",
    secret: true,
    meaning: "Its secret",
    schema: text,
  }),
  ADMIN_OIDC_SCOPES: variable({
    expects: "scopes with openid among them, separated by spaces",
    default: "openid email",
    meaning: "What is asked for",
    schema: text.refine((scopes) => scopes.split(" ").includes("openid")),
  }),
  ADMIN_OIDC_CLAIM: variable({
    expects: "a claim's name",
    default: "email",
    meaning: "Whose values the two lists name; a mail address counts only where the provider has verified it",
    schema: text.regex(/^\S{1,200}$/),
  }),
  ADMIN_OIDC_OPERATORS: variable({
    expects: "values of the claim, separated by commas",
    default: "none",
    meaning: "Operators: may read and change",
    schema: names,
  }),
  ADMIN_OIDC_VIEWERS: variable({
    expects: "values of the claim, separated by commas",
    default: "none",
    meaning: "Viewers: may only read; a person on neither list has no access",
    schema: names,
  }),
} as const;

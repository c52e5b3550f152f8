import { createHash } from "node:crypto";
import type { WayBack } from "./way-back.ts";

/** What a browser is shown on its way in. Fixed words alone: nothing of a request is ever written into it, but for where to go on to. */
export interface Page {
  readonly status: number;
  readonly html: string;
}

const STYLE =
  ":root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.4rem}";

/** The address that the browser is at holds a code: it is told to nobody. */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;

/**
 * A redirect would be the last step of a way that the provider's page began, and no `Strict` cookie goes along with that: so it is a
 * page of our own that goes on.
 */
export function goOn(wayBack: WayBack): Page {
  // An address that was parsed has neither quotation marks nor angle brackets in it.
  const href = wayBack.replaceAll("&", "&amp;");
  return page(200, "You are signed in", `<a href="${href}">Go on</a>`, href);
}
export const NOT_SIGNED_IN = page(
  401,
  "You are not signed in",
  "The provider did not let you in, or the sign-in was begun in another browser or more than ten minutes ago. " +
    '<a href="/sign-in">Start again</a>',
);
export const NOT_LISTED = page(
  403,
  "You may not come in",
  "The provider knows you, but you are on neither list: ADMIN_OIDC_OPERATORS, ADMIN_OIDC_VIEWERS. " +
    '<a href="/sign-in">Sign in otherwise</a>',
);
export const TOO_MANY = page(
  429,
  "Too many attempts",
  'Wait for a minute, then <a href="/sign-in">start again</a>',
);
export const LATER = page(
  503,
  "Not right now",
  "The sign-in could not be finished, and the receiver's log says why. " +
    '<a href="/sign-in">Start again</a> in a moment',
);

function page(status: number, title: string, text: string, href?: string): Page {
  const refresh = href === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${href}">`;
  const html =
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${refresh}` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1><p>${text}.</p></main></body></html>\n`;
  return { status, html };
}

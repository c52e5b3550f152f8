import { createHash } from "node:crypto";

/** What a browser is shown on its way in. Fixed words alone: nothing of a request is ever written into it, but for where to go on to. */
export interface Page {
  readonly status: number;
  readonly html: string;
}

const STYLE =
  ":root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.4rem}";

/** The URL holds an authorization code: it must not leak as a referrer. */
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
export function signedInPage(returnTo: ReturnTo): Page {
  // An address that was parsed has neither quotation marks nor angle brackets in it.
  const href = returnTo.replaceAll("&", "&amp;");
  return renderPage(200, "You are signed in", `<a href="${href}">Continue</a>`, href);
}
export const NOT_SIGNED_IN = renderPage(
  401,
  "You are not signed in",
  "The provider did not let you in, or the sign-in was started in another browser or more than ten minutes ago. " +
    '<a href="/sign-in">Start again</a>',
);
export const NOT_LISTED = renderPage(
  403,
  "Access denied",
  "The provider knows you, but you are on neither list: ADMIN_OIDC_OPERATORS, ADMIN_OIDC_VIEWERS. " +
    '<a href="/sign-in">Sign in otherwise</a>',
);
export const TOO_MANY_ATTEMPTS = renderPage(
  429,
  "Too many attempts",
  'Wait for a minute, then <a href="/sign-in">start again</a>',
);
export const UNAVAILABLE = renderPage(
  503,
  "Not right now",
  "The sign-in could not be finished, and the receiver's log says why. " +
    '<a href="/sign-in">Start again</a> in a moment',
);

function renderPage(status: number, title: string, text: string, href?: string): Page {
  const refresh = href === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${href}">`;
  const html =
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${refresh}` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1><p>${text}.</p></main></body></html>\n`;
  return { status, html };
}

/** A path of this origin with query and fragment, encoded as addresses are. */
type ReturnTo = string & { readonly isWayBack: true };

/** In bytes; a cookie has to hold it. */
const MAX_LENGTH = 1_000;
const PLACEHOLDER_ORIGIN = "http://here.invalid";
const HOME = "/" as ReturnTo;

/**
 * The page to return to after signing in. It comes from a URL that anyone can write, so that it leads only to
 * another page here, and not into another sign-in; what does not is the first page.
 */
export function parseReturnTo(asked: unknown): ReturnTo {
  const url =
    typeof asked === "string" && asked.startsWith("/") ? URL.parse(asked, PLACEHOLDER_ORIGIN) : null;
  if (url === null || url.origin !== PLACEHOLDER_ORIGIN || url.pathname.startsWith("/sign-in")) return HOME;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // A browser would take what follows two slashes for a host, and there they may be only now that the dots are gone.
  if (path.startsWith("//") || /["<>]/.test(path) || JSON.stringify(path).length > MAX_LENGTH) return HOME;
  return path as ReturnTo;
}

import { hash } from "node:crypto";

const STYLE =
  ":root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.4rem}";

/**
 * Nothing but this style, in no frame, and nothing may be sent from the page. Its address may hold an authorization code, which
 * must not leak as a referrer.
 */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
} as const;

/**
 * A page for a browser on its way through a sign-in. It has only fixed words: nothing of a request is ever written into it.
 * @param text HTML @param next where the page goes on to by itself
 */
export function browserPage(title: string, text: string, next?: string): string {
  const refresh = next === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${next}">`;
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${refresh}` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1><p>${text}</p></main></body></html>\n`
  );
}

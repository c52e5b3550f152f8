import { createHash } from "node:crypto";
import type { Outcome } from "../domain/index.ts";
import type { Answer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";

const STYLE =
  ":root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.4rem}";

/** Nothing but this style, in no frame, and nothing may be sent from the page. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
} as const;

/** Fixed words alone: nothing of a request is ever written into a page. */
export const DONE_PAGE = page("You are signed in", "You can close this window.");
const REFUSED_PAGE = page(
  "The sign-in did not succeed",
  "The platform did not grant access. You can start again.",
);
const UNCONFIGURED_PAGE = page(
  "Sign-in is not configured",
  "No handler receives user_authorized. Add the built-in one with HANDLERS=user_authorized, or a handler of your own.",
);
const UNKNOWN_PAGE = page(
  "This sign-in is not known here",
  "It was started in another browser, was used already, or took longer than ten minutes. Start it again.",
);
const LATER_PAGE = page(
  "Not right now",
  "The sign-in could not be finished. Load this page again in a moment.",
);

/** Browsers say that they want a page; callers of an API do not. */
export function wantsPage({ headers }: Pick<Incoming, "headers">): boolean {
  return headers.accept?.includes("text/html") ?? false;
}

export function pageAnswer(status: number, body: string): Answer {
  return { status, headers: HEADERS, body };
}

/** What a browser is shown at the end of a flow. After a success it is sent on, so that no code stays in its address. */
export function pageFor(outcome: Outcome, answer: Answer, next: string): Answer {
  if (outcome.ending === "success") return { status: 303, headers: { location: next }, body: "" };
  return { status: answer.status, headers: { ...answer.headers, ...HEADERS }, body: bodyFor(answer.status) };
}

function bodyFor(status: number): string {
  if (status >= 500) return LATER_PAGE;
  if (status === 401) return UNKNOWN_PAGE;
  return status === 404 ? UNCONFIGURED_PAGE : REFUSED_PAGE;
}

function page(title: string, text: string): string {
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1><p>${text}</p></main></body></html>\n`
  );
}

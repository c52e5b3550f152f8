import { FAULTS } from "../domain/index.ts";
import type { Exchanged } from "../fetch/index.ts";
import type { LoggedCallback } from "../store/index.ts";
import type { Trouble } from "./trouble.ts";

/** How the request to an address ended on this side. */
export type Attempt = { readonly answer: Exchanged } | { readonly trouble: Trouble };

export interface Verdict {
  readonly reached: boolean;
  readonly says: string;
}

/** What the callback log tells of the request. */
export type Arrival = Pick<LoggedCallback, "outcome" | "responseStatus" | "remoteAddress">;

const LONGEST_TOLD = 200;
const FILLED_LOG = "or the log has left it out, as it does past 600 refused callbacks in a minute";

/**
 * Whether the address leads to a receiver of this database, in sentences for who registers it.
 * @param arrival the row of this very request, where there is one
 */
export function judge(url: URL, attempt: Attempt, arrival: Arrival | undefined): Verdict {
  if ("trouble" in attempt) {
    const { says } = attempt.trouble;
    if (arrival === undefined) return not(says);
    return not(`The request arrived at the receiver, but its answer did not come back. ${says}`);
  }
  const { answer } = attempt;
  if (arrival === undefined) return not(elsewhere(url, answer));
  if (arrival.responseStatus === answer.status) return ofReceiver(arrival, answer);
  return not(
    `The request arrived at the receiver, which answered ${arrival.responseStatus}, but what came back is ${answer.status} of ` +
      `${serverOf(answer)}: a platform would get that too.`,
  );
}

/** An unsigned request is refused with 401 where all is well. */
function ofReceiver({ outcome, responseStatus, remoteAddress }: Arrival, { headers }: Exchanged): Verdict {
  if (responseStatus === 401)
    return reached("Reached: the receiver refused the unsigned request with 401, as it should.");
  switch (outcome) {
    case "too_many_requests":
      return reached(
        `Reached, but answered 429: the receiver's own limit for one address (RATE_LIMIT_CALLBACK, RATE_LIMIT_DEFAULT), against ` +
          `which this check counts as well. ${againAfter(headers["retry-after"])}.`,
      );
    case "address_not_allowed":
      return reached(
        `Reached, and turned away with 403: IP_ALLOW_LIST does not name ${remoteAddress}, from where this check came. ` +
          "See that it names the platform's addresses.",
      );
    case "overloaded":
      return reached("Reached, but answered 503: more callbacks are at work than MAX_WAITING_CALLBACKS.");
    case "https_required":
      return not(
        "The request arrived at the receiver as plain HTTP, and was refused with 403: let the proxy send X-Forwarded-Proto: " +
          "https, and name the proxy's address in TRUST_PROXY.",
      );
    default:
      return not(
        `The request arrived at the receiver, which answered ${responseStatus} (${outcome}) and not 401: something on the way ` +
          "changes it.",
      );
  }
}

function elsewhere(url: URL, answer: Exchanged): string {
  const { status, headers } = answer;
  const who = serverOf(answer);
  if (status >= 300 && status < 400)
    return (
      `The answer is ${status}, a redirect to ${targetOf(headers.location, url)}, by ${who}. Platforms do not follow redirects: ` +
      "register the address it leads to, or serve this one without it."
    );
  if (status === 502 || status === 503 || status === 504)
    return `A proxy answered ${status}, ${who}: it does not get through to the receiver behind it. Is its upstream the receiver's HOST and PORT?`;
  if (status === 401 && isOurs(answer))
    return (
      "A receiver answered 401, but the callback log of this database has no row of the request: it is a receiver of another " +
      `database (another environment's?), ${FILLED_LOG}.`
    );
  if (status === 429)
    return `${capital(who)} answered 429 before the request came to the receiver: a limit on the way. ${againAfter(headers["retry-after"])}.`;
  return (
    `Another server answered, ${who}: ${status}, and the callback log has no row of the request. See that this host and path ` +
    "lead to the receiver, unchanged."
  );
}

const REFUSALS = [FAULTS.signature_missing, FAULTS.token_missing].map(({ message }) =>
  JSON.stringify({ error: message }),
);

/** Whether it is what a receiver answers to whoever does not sign. */
function isOurs({ body }: Exchanged): boolean {
  return REFUSALS.includes(body);
}

function serverOf({ headers }: Exchanged): string {
  const { server } = headers;
  return server === undefined || server === ""
    ? "a server that does not name itself"
    : `a server that calls itself ${JSON.stringify(told(String(server)))}`;
}

/** Without its query, which may hold anything. */
function targetOf(location: string | undefined, url: URL): string {
  const target = location === undefined ? null : URL.parse(location, url.href);
  return target === null ? "nowhere" : told(`${target.origin}${target.pathname}`);
}

function againAfter(retryAfter: string | undefined): string {
  return /^\d{1,6}$/.test(retryAfter ?? "") ? `Try again in ${retryAfter} s` : "Try again later";
}

function told(text: string): string {
  return text.slice(0, LONGEST_TOLD);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function reached(says: string): Verdict {
  return { reached: true, says };
}

function not(says: string): Verdict {
  return { reached: false, says };
}

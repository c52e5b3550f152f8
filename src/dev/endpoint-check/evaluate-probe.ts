import { errorCode, FAULTS } from "../../domain/index.ts";
import type { StoredCallback } from "../../store/index.ts";
import type { ReceivedResponse } from "../../system/index.ts";

export type ProbeResult =
  | { readonly answer: ReceivedResponse }
  | { readonly problem: ReturnType<typeof connectionProblem> };

type LoggedRequest = Pick<StoredCallback, "outcome" | "responseStatus" | "remoteAddress">;

const LONGEST_TOLD = 200;
const FILLED_LOG = "or the log has left it out, as it does past 600 refused callbacks in a minute";

/**
 * Whether the address leads to a receiver of this database, in sentences for the operator that registers it.
 * @param arrival the row of this very request, where there is one
 */
export function evaluateProbe(url: URL, attempt: ProbeResult, arrival: LoggedRequest | undefined) {
  if ("problem" in attempt) {
    const { message } = attempt.problem;
    if (arrival === undefined) return notReached(message);
    return notReached(`The request arrived at the receiver, but its answer did not come back. ${message}`);
  }
  const { answer } = attempt;
  if (arrival === undefined) return notReached(elsewhere(url, answer));
  if (arrival.responseStatus === answer.status) return ofReceiver(arrival, answer);
  return notReached(
    `The request arrived at the receiver, which answered ${arrival.responseStatus}, but what came back is ${answer.status} of ` +
      `${serverOf(answer)}: a platform would get that too.`,
  );
}

/** The whole text of the response in SvelteKit 2 and 3, and in Astro 5. */
const CROSS_SITE = /Cross-site \w+ form submissions are forbidden/;

/**
 * A framework may refuse a form before any route runs, while it takes JSON.
 * @param form the response to a probe that sent one
 */
export function formWarning(form: ProbeResult | undefined): string | null {
  if (form === undefined || !("answer" in form)) return null;
  const { status, body } = form.answer;
  if (status !== 403 || !CROSS_SITE.test(body)) return null;
  return (
    "A form got 403 from the framework before the receiver, since no platform sends an Origin; JSON arrives. Twilio, Slack and " +
    'Mailgun send forms. In SvelteKit set csrf.trustedOrigins to ["*"] (version 2: csrf.checkOrigin to false), in Astro ' +
    "security.checkOrigin to false, and check the Origin of the other routes in a hook (docs/frameworks/sveltekit.md)."
  );
}

/** An unsigned request is refused with 401 where all is well. */
function ofReceiver({ outcome, responseStatus, remoteAddress }: LoggedRequest, { headers }: ReceivedResponse) {
  if (responseStatus === 401)
    return reached("Reached: the receiver refused the unsigned request with 401, as it should.");
  const messages: Readonly<Record<string, string>> = {
    too_many_requests:
      `Reached, but answered 429: the receiver's own limit for one address (RATE_LIMIT_CALLBACK, RATE_LIMIT_DEFAULT), against ` +
      `which this check counts as well. ${againAfter(headers["retry-after"])}.`,
    address_not_allowed:
      `Reached, and turned away with 403: IP_ALLOW_LIST does not name ${remoteAddress}, from where this check came. ` +
      "See that it names the platform's addresses.",
    overloaded: "Reached, but answered 503: more callbacks are at work than MAX_WAITING_CALLBACKS.",
    keys_unavailable:
      "Reached, but answered 503: the keys or secrets that verify a callback could not be had. See the receiver's log; a " +
      "function of tenants' secrets must return none for a tenant that does not exist, and not throw.",
  };
  const message = messages[outcome];
  if (message !== undefined) return reached(message);
  if (outcome === "https_required")
    return notReached(
      "The request arrived at the receiver as plain HTTP, and was refused with 403: let the proxy send X-Forwarded-Proto: " +
        "https, and name the proxy's address in TRUST_PROXY.",
    );
  return notReached(
    `The request arrived at the receiver, which answered ${responseStatus} (${outcome}) and not 401: something on the way ` +
      "changes it.",
  );
}

function elsewhere(url: URL, answer: ReceivedResponse): string {
  const { status, headers } = answer;
  const who = serverOf(answer);
  if (status >= 300 && status < 400)
    return (
      `The answer is ${status}, a redirect to ${targetOf(headers.location, url)}, by ${who}. Platforms do not follow redirects: ` +
      "register the address it leads to, or serve this one without it."
    );
  if (status === 502 || status === 503 || status === 504)
    return `A proxy answered ${status}, ${who}: it does not get through to the receiver behind it. Is its upstream the receiver's HOST and PORT?`;
  if (status === 401 && REFUSALS.includes(answer.body))
    return (
      "A receiver answered 401, but the callback log of this database has no row of the request: it is a receiver of another " +
      `database (another environment's?), ${FILLED_LOG}.`
    );
  if (status === 429)
    return `${who.replace("a", "A")} answered 429 before the request came to the receiver: a limit on the way. ${againAfter(headers["retry-after"])}.`;
  return (
    `Another server answered, ${who}: ${status}, and the callback log has no row of the request. See that this host and path ` +
    "lead to the receiver, unchanged."
  );
}

/** A receiver's responses to an unsigned request. */
const REFUSALS = [FAULTS.signature_missing, FAULTS.token_missing].map(({ message }) =>
  JSON.stringify({ error: message }),
);

function serverOf({ headers }: ReceivedResponse): string {
  const { server } = headers;
  return server === undefined || server === ""
    ? "a server that does not name itself"
    : `a server that calls itself ${JSON.stringify(String(server).slice(0, LONGEST_TOLD))}`;
}

/** Without its query, which may hold anything. */
function targetOf(location: string | undefined, url: URL): string {
  const target = location === undefined ? null : URL.parse(location, url.href);
  return target === null ? "nowhere" : `${target.origin}${target.pathname}`.slice(0, LONGEST_TOLD);
}

function againAfter(retryAfter: string | undefined): string {
  return /^\d{1,6}$/.test(retryAfter ?? "") ? `Try again in ${retryAfter} s` : "Try again later";
}

const reached = (message: string) => ({ reached: true, message });
const notReached = (message: string) => ({ reached: false, message });

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired: renew it, and see that the server took the new one",
  CERT_NOT_YET_VALID: "is not valid yet: look at its dates, and at the clock of this machine",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed, which no platform believes: get one of a public authority",
  SELF_SIGNED_CERT_IN_CHAIN:
    "comes from a private authority, which no platform trusts: get one from a public authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "cannot be traced to an authority: the server does not send the intermediate certificates. Give it the full chain",
  UNABLE_TO_GET_ISSUER_CERT:
    "cannot be traced to an authority: a certificate between is missing. Give the server the full chain",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "comes from an authority that is not known here, and so probably to no platform: get one of a public authority",
  CERT_REVOKED: "was revoked: get another one",
};
const OF_A_CERTIFICATE = /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/**
 * An error of a connection in words for the operator that registers the address.
 * @param timeLimitMs after which it was given up
 * @returns `mayHaveArrived`: whether the request may have been received all the same
 */
export function connectionProblem(error: unknown, url: URL, timeLimitMs: number) {
  // The name of a time limit's error is TimeoutError, and its code a number.
  const code = errorCode(error);
  const server = hostAndPort(url);
  if (code === "TimeoutError") {
    const message =
      `${server} did not answer within ${timeLimitMs / 1_000} s. Does a firewall drop what comes to this port, or does the ` +
      "server wait for something?";
    return { message, mayHaveArrived: true };
  }
  if (["ECONNRESET", "EPIPE", "HPE_INVALID_EOF_STATE"].includes(code))
    return { message: `${server} ended the connection without an answer (${code}).`, mayHaveArrived: true };
  return { message: problemMessage(code, error, url), mayHaveArrived: false };
}

function problemMessage(code: string, error: unknown, url: URL): string {
  const name = url.hostname;
  switch (code) {
    case "ENOTFOUND":
      return `The name ${name} does not resolve: there is no address of it in the DNS that this machine asks. Add the record, or correct CALLBACK_BASE_URL.`;
    case "EAI_AGAIN":
      return `The name ${name} could not be looked up: this machine's DNS server does not answer.`;
    case "ECONNREFUSED":
      return `${hostAndPort(url)} refuses connections: nothing listens there. Start the proxy or the receiver, or open the port.`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `There is no way from this machine to ${hostAndPort(url)} (${code}).`;
    case "ETIMEDOUT":
      return `${hostAndPort(url)} takes no connection in time. Does a firewall drop what comes to this port?`;
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const { cert } = error as { cert?: { subjectaltname?: string } };
      const names = cert?.subjectaltname ?? "no name at all";
      return `The certificate of ${hostAndPort(url)} is not for ${name}, but for ${names}: get one with this name.`;
    }
  }
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return `The certificate of ${hostAndPort(url)} ${certificate}.`;
  if (OF_A_CERTIFICATE.test(code)) return `The certificate of ${hostAndPort(url)} is not believed: ${code}.`;
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO)/.test(code))
    return `${hostAndPort(url)} does not speak TLS as it is spoken today (${code}). Does it serve plain HTTP on this port?`;
  if (code.startsWith("HPE_")) return `${hostAndPort(url)} answers with something that is not HTTP (${code}).`;
  return `${hostAndPort(url)} could not be reached: ${code}.`;
}

/** The port is shown also where it is the default one: firewalls know ports. */
function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

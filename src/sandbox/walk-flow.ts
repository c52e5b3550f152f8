import type { Exchanged } from "../fetch/index.ts";
import { answered, type OwnListener } from "./send-event.ts";

/** Where the parts of a flow stand. */
export interface FlowPlaces {
  readonly receiver: OwnListener;
  /** The origin that is registered: in a redirect it stands for the receiver. */
  readonly registeredOrigin: string;
  readonly startPath: string;
  readonly redirectUri: string;
  /** The sandbox platform's. */
  readonly platformOrigin: string;
}

/** One request of the browser. */
export interface FlowStep {
  readonly method: "GET";
  /** As the browser has it; it holds code and state. */
  readonly url: string;
  readonly status: number;
  readonly says: string;
  /** Empty for a redirect. */
  readonly body: string;
  readonly tookMs: number;
}

export interface Flow {
  readonly steps: readonly FlowStep[];
  /** Whether the user was signed in in the end. */
  readonly isSignedIn: boolean;
}

type Place = "start" | "platform" | "redirect" | "elsewhere";

const MOST_STEPS = 5;
const MOST_BYTES = 65_536;

/**
 * Signs in at the sandbox platform as a browser does, with cookies of its own, and goes nowhere but to the receiver and the
 * sandbox platform.
 * @throws Unanswered
 */
export async function walkFlow(places: FlowPlaces): Promise<Flow> {
  const cookies = new Map<string, string>();
  const steps: FlowStep[] = [];
  let next: URL | null = new URL(places.startPath, places.registeredOrigin);
  while (next !== null && steps.length < MOST_STEPS) {
    const place = placeOf(next, places);
    if (place === "elsewhere") break;
    const begun = performance.now();
    const answer = await visit(next, place, places, cookies);
    const { status, body } = answer;
    const tookMs = performance.now() - begun;
    steps.push({ method: "GET", url: next.href, status, says: wordsOf(place, status), body, tookMs });
    if (place === "redirect") return { steps, isSignedIn: status === 200 };
    const { location } = answer.headers;
    next = location === undefined ? null : URL.parse(location, next.href);
  }
  return { steps, isSignedIn: false };
}

function placeOf(url: URL, { registeredOrigin, startPath, redirectUri, platformOrigin }: FlowPlaces): Place {
  if (url.origin === platformOrigin) return "platform";
  if (url.origin === registeredOrigin && url.pathname === startPath) return "start";
  const redirect = new URL(redirectUri);
  return url.origin === redirect.origin && url.pathname === redirect.pathname ? "redirect" : "elsewhere";
}

/** The cookie is the receiver's, and the platform does not get it. */
async function visit(
  url: URL,
  place: Place,
  { receiver }: FlowPlaces,
  cookies: Map<string, string>,
): Promise<Exchanged> {
  const { timeLimitMs, certificate } = receiver;
  const limits = { method: "GET", timeLimitMs, mostBytes: MOST_BYTES } as const;
  // An answer in JSON says what became of the flow, where a browser would be sent on to a page.
  const headers = { accept: "application/json" };
  if (place === "platform") return answered(url, { ...limits, headers });
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const bound = new URL(`${receiver.origin}${url.pathname}${url.search}`);
  const answer = await answered(bound, {
    ...limits,
    certificate,
    headers: cookie === "" ? headers : { ...headers, cookie },
  });
  for (const line of answer.headers["set-cookie"] ?? []) {
    const [pair = ""] = line.split(";", 1);
    const mark = pair.indexOf("=");
    cookies.set(pair.slice(0, mark), pair.slice(mark + 1));
  }
  return answer;
}

function wordsOf(place: Place, status: number): string {
  if (status === 429) return "Too many requests of this address: RATE_LIMIT_CALLBACK or RATE_LIMIT_DEFAULT.";
  switch (place) {
    case "start":
      if (status === 404) return "The receiver starts no flow; its answer says what to do.";
      return status === 303
        ? "The receiver begins a flow: it keeps a state and a PKCE verifier, binds them to this browser with a cookie, and sends the browser to the platform."
        : "The receiver could not begin a flow; its log says why.";
    case "platform":
      return status === 303
        ? "The sandbox platform grants at once, as a user would, and sends the browser back to the registered address with a code and the state."
        : "The sandbox platform takes this for no start of a flow of this receiver; its answer says why.";
    default:
      return status === 200
        ? "The receiver knew the state and the browser, exchanged the code for tokens at the sandbox platform, kept them encrypted, and handled the event user_authorized. A browser would now be sent to OAUTH_SUCCESS_URL."
        : "The receiver refused the redirect, or could not handle it; its answer says why, and its log says more.";
  }
}

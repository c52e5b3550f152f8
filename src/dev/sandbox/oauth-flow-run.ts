import type { ReceivedResponse } from "../../system/index.ts";
import { type OwnListener, sendOrThrow } from "./send-event.ts";

export interface OAuthFlowOptions {
  readonly receiver: OwnListener;
  /** The registered origin, which stands for the receiver in a redirect. */
  readonly registeredOrigin: string;
  readonly startPath: string;
  readonly redirectUri: string;
  readonly platformOrigin: string;
}

type FlowStage = "start" | "platform" | "redirect" | "elsewhere";

const MAX_STEPS = 5;
const MAX_BYTES = 65_536;

/**
 * Signs in at the sandbox platform as a browser with cookies does. It sends requests only to the receiver and the sandbox
 * platform.
 * @throws NoResponseError
 */
export async function runOAuthFlow(places: OAuthFlowOptions) {
  const cookies = new Map<string, string>();
  const steps: ReturnType<typeof stepOf>[] = [];
  let next: URL | null = new URL(places.startPath, places.registeredOrigin);
  while (next !== null && steps.length < MAX_STEPS) {
    const place = stageOf(next, places);
    if (place === "elsewhere") break;
    const startedAt = performance.now();
    const answer = await visit(next, place, places, cookies);
    steps.push(stepOf(next, place, answer, performance.now() - startedAt));
    if (place === "redirect") return { steps, isSignedIn: answer.status === 200 };
    const { location } = answer.headers;
    next = location === undefined ? null : URL.parse(location, next.href);
  }
  return { steps, isSignedIn: false };
}

/** With the address as the browser has it, code and state included; the body of a redirect is empty. */
function stepOf({ href }: URL, place: FlowStage, { status, body }: ReceivedResponse, duration_ms: number) {
  const message = stageMessage(place, status);
  return { method: "GET", url: href, status, message, body, duration_ms } as const;
}

function stageOf(url: URL, { registeredOrigin, startPath, redirectUri, platformOrigin }: OAuthFlowOptions) {
  if (url.origin === platformOrigin) return "platform";
  if (url.origin === registeredOrigin && url.pathname === startPath) return "start";
  const redirect = new URL(redirectUri);
  return url.origin === redirect.origin && url.pathname === redirect.pathname ? "redirect" : "elsewhere";
}

/** The cookie is the receiver's, and the platform does not get it. */
async function visit(url: URL, place: FlowStage, { receiver }: OAuthFlowOptions, cookies: Map<string, string>) {
  const { timeLimitMs, certificate } = receiver;
  const limits = { method: "GET", timeLimitMs, maxBytes: MAX_BYTES } as const;
  // A response in JSON shows the outcome of the flow, where a browser would be redirected to a page.
  const headers = { accept: "application/json" };
  if (place === "platform") return sendOrThrow(url, { ...limits, headers });
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const bound = new URL(`${receiver.origin}${url.pathname}${url.search}`);
  const sent = cookie === "" ? headers : { ...headers, cookie };
  const answer = await sendOrThrow(bound, { ...limits, certificate, headers: sent });
  for (const line of answer.headers["set-cookie"] ?? []) {
    const [pair = ""] = line.split(";", 1);
    const mark = pair.indexOf("=");
    cookies.set(pair.slice(0, mark), pair.slice(mark + 1));
  }
  return answer;
}

function stageMessage(place: FlowStage, status: number): string {
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

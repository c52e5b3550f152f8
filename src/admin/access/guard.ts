import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AdminDeps } from "../admin-deps.ts";
import type { Caller } from "./access.ts";
import { registerAudit, subjectOf } from "./audit-hook.ts";
import type { Door } from "./door.ts";
import { actionOf, type GuardRules, isUnsafe } from "./guard-rules.ts";
import { comesFrom, hostnameOf } from "./provenance.ts";

/**
 * Every answer has them. The dashboard sets a content security policy of its own in place of this one, which lets an answer do
 * nothing at all.
 */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Why a request goes no further. */
interface Stop {
  readonly status: 401 | 403 | 421 | 429;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MISDIRECTED: Stop = {
  status: 421,
  error:
    "this listener is asked for by the names of this machine alone; where operators use another address, set " +
    "ADMIN_BASE_URL to it",
};
const UNKNOWN: Stop = {
  status: 401,
  error: "send the admin token: Authorization: Bearer <ADMIN_TOKEN>",
  headers: { "www-authenticate": 'Bearer realm="admin"' },
};
const FROM_ELSEWHERE: Stop = {
  status: 403,
  error:
    "this was sent by another page than the receiver's own; where operators use another address than the listener's, set " +
    "ADMIN_BASE_URL to it",
};
const VIEWER: Stop = { status: 403, error: "this needs the role operator, and yours is viewer" };

/** Who may do what on the admin listener is decided here, for every route; and what is done is written down. */
export function registerGuard(app: FastifyInstance, deps: AdminDeps, door: Door): void {
  app.decorateRequest("caller", null);
  app.addHook("onRoute", ({ method, url, schema }) => assertNamed([method].flat(), url, schema?.guard));
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(HEADERS);
    const stop = await judge(request, deps, door);
    if (stop === undefined) return;
    const { status, error, headers = {} } = stop;
    return reply.code(status).headers(headers).send({ error });
  });
  registerAudit(app, deps);
}

/** By the route that was found, never by the text of the address, which can be written in many ways. */
async function judge(request: FastifyRequest, deps: AdminDeps, door: Door): Promise<Stop | undefined> {
  const { headers, method, routeOptions } = request;
  const rules: GuardRules = routeOptions.schema?.guard ?? {};
  if (!rules.anyHost && !isAddressedRight(request, deps)) return MISDIRECTED;
  const from = comesFrom(headers, deps.access.baseUrl);
  if (rules.isOpen) return isUnsafe(method) && from === "elsewhere" ? FROM_ELSEWHERE : undefined;
  const caller = await door.callerOf(request);
  if (caller === undefined) return UNKNOWN;
  if ("verdict" in caller) return caller.verdict === "wrong" ? UNKNOWN : tooMany(caller.waitSeconds);
  // A browser sends a cookie whichever page asks for it; a token only the page that has it.
  if (caller.session !== null && isUnsafe(method) && from !== "own page") return FROM_ELSEWHERE;
  if (!may(caller, method, rules)) {
    const action = actionOf(request.query, rules);
    if (action !== undefined) noteAttempt(request, caller, action, deps, door);
    return VIEWER;
  }
  request.caller = caller;
  return undefined;
}

/** Whoever was let in; not for open routes, which let in everybody. */
export function knownCaller({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error("this route is open, and knows nobody");
  return caller;
}

function noteAttempt(
  request: FastifyRequest,
  { who, role }: Caller,
  action: string,
  { access }: AdminDeps,
  door: Door,
): void {
  const attempt = { role, action, subject: subjectOf(request.params) };
  const remoteAddress = access.remoteAddress(request.raw);
  door.noteRefusal({ remoteAddress, who, reason: "the role is viewer", attempt });
}

export function tooMany(waitSeconds: number): Stop {
  return {
    status: 429,
    error: `too many wrong tokens came from this address; try again in ${waitSeconds} s`,
    headers: { "retry-after": String(waitSeconds) },
  };
}

function may({ role }: Caller, method: string, rules: GuardRules): boolean {
  return role === "operator" || (rules.role ?? (isUnsafe(method) ? "operator" : "viewer")) === "viewer";
}

/** Only HTTP/1.0 comes without a host, and no browser speaks it. */
function isAddressedRight({ headers }: FastifyRequest, { access }: AdminDeps): boolean {
  if (headers.host === undefined) return true;
  const hostname = hostnameOf(headers);
  return hostname !== undefined && access.isOwnHost(hostname);
}

/** What changes something without a name could be found in no audit log. */
function assertNamed(methods: readonly string[], url: string, rules: GuardRules = {}): void {
  if (rules.isOpen || rules.action !== undefined || !methods.some(isUnsafe)) return;
  throw new Error(`${methods.join(", ")} ${url}: its operation names no action for the audit log`);
}

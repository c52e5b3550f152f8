import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { Caller } from "./access.ts";
import { actionOf, type GuardRules, isUnsafe } from "./access.ts";
import { registerAudit, targetOf } from "./audit.ts";
import type { Authenticator } from "./authenticator.ts";

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
interface GuardError {
  readonly status: 401 | 403 | 421 | 429;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MISDIRECTED: GuardError = {
  status: 421,
  error:
    "this listener accepts only host names of this machine; where operators use another address, set " +
    "ADMIN_BASE_URL to it",
};
const UNAUTHENTICATED: GuardError = {
  status: 401,
  error: "send the admin token: Authorization: Bearer <ADMIN_TOKEN>",
  headers: { "www-authenticate": 'Bearer realm="admin"' },
};
const CROSS_ORIGIN: GuardError = {
  status: 403,
  error:
    "this request came from another origin; where operators use another address than the listener's, set " +
    "ADMIN_BASE_URL to it",
};
const FORBIDDEN: GuardError = { status: 403, error: "this needs the role operator; yours is viewer" };

/** Who may do what on the admin listener is decided here, for every route; and what is done is written down. */
export function registerGuard(
  app: FastifyInstance,
  deps: AdminDependencies,
  authenticator: Authenticator,
): void {
  app.decorateRequest("caller", null);
  app.addHook("onRoute", ({ method, url, schema }) => assertAuditAction([method].flat(), url, schema?.guard));
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(HEADERS);
    const refusal = await checkRequest(request, deps, authenticator);
    if (refusal === undefined) return;
    const { status, error, headers = {} } = refusal;
    return reply.code(status).headers(headers).send({ error });
  });
  registerAudit(app, deps);
}

/** By the route that was found, never by the text of the address, which can be written in many ways. */
async function checkRequest(
  request: FastifyRequest,
  deps: AdminDependencies,
  authenticator: Authenticator,
): Promise<GuardError | undefined> {
  const { headers, method, routeOptions } = request;
  const rules: GuardRules = routeOptions.schema?.guard ?? {};
  if (!rules.anyHost && !hasAllowedHost(request, deps)) return MISDIRECTED;
  const from = requestOrigin(headers, deps.access.baseUrl);
  if (rules.isPublic) return isUnsafe(method) && from === "cross-origin" ? CROSS_ORIGIN : undefined;
  const caller = await authenticator.authenticate(request);
  if (caller === undefined) return UNAUTHENTICATED;
  if ("verdict" in caller)
    return caller.verdict === "wrong" ? UNAUTHENTICATED : tooManyAttempts(caller.waitSeconds);
  // A browser sends a cookie whichever page asks for it; a token only the page that has it.
  if (caller.session !== null && isUnsafe(method) && from !== "same-origin") return CROSS_ORIGIN;
  if (!isAllowed(caller, method, rules)) {
    const action = actionOf(request.query, rules);
    if (action !== undefined) recordForbidden(request, caller, action, deps, authenticator);
    return FORBIDDEN;
  }
  request.caller = caller;
  return undefined;
}

/** The authenticated caller; not for public routes. */
export function requireCaller({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error("a public route has no caller");
  return caller;
}

function recordForbidden(
  request: FastifyRequest,
  { actor, role }: Caller,
  action: string,
  { access }: AdminDependencies,
  authenticator: Authenticator,
): void {
  const attempt = { role, action, target: targetOf(request.params) };
  const remoteAddress = access.remoteAddress(request.raw);
  authenticator.recordRefusal({ remoteAddress, actor, reason: "the role is viewer", attempt });
}

export function tooManyAttempts(waitSeconds: number): GuardError {
  return {
    status: 429,
    error: `too many wrong tokens came from this address; try again in ${waitSeconds} s`,
    headers: { "retry-after": String(waitSeconds) },
  };
}

function isAllowed({ role }: Caller, method: string, rules: GuardRules): boolean {
  return role === "operator" || (rules.role ?? (isUnsafe(method) ? "operator" : "viewer")) === "viewer";
}

/** Only HTTP/1.0 comes without a host, and no browser speaks it. */
function hasAllowedHost({ headers }: FastifyRequest, { access }: AdminDependencies): boolean {
  if (headers.host === undefined) return true;
  const hostname = requestHostname(headers);
  return hostname !== undefined && access.isAllowedHost(hostname);
}

/** What changes something without a name could be found in no audit log. */
function assertAuditAction(methods: readonly string[], url: string, rules: GuardRules = {}): void {
  if (rules.isPublic || rules.action !== undefined || !methods.some(isUnsafe)) return;
  throw new Error(`${methods.join(", ")} ${url}: its operation names no action for the audit log`);
}

/** Which page has sent a request; scripts outside of browsers say nothing of it. */
type RequestOrigin = "same-origin" | "cross-origin" | "no browser";

/**
 * By `Sec-Fetch-Site`, which browsers set and pages cannot, and by `Origin` where there is none: plain HTTP to anything but
 * loopback. Every browser of today sends one of the two with whatever may change something.
 * @param baseUrl the origin that operators use, where a proxy hands another `Host` on
 */
function requestOrigin(headers: IncomingHttpHeaders, baseUrl: string | null): RequestOrigin {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "same-origin" : "cross-origin";
  if (headers.origin === undefined) return "no browser";
  const origin = URL.parse(headers.origin);
  const isOwn = origin !== null && (origin.origin === baseUrl || origin.host === headers.host);
  return isOwn ? "same-origin" : "cross-origin";
}

/** The name in `Host`, without the port; undefined where it is no host. */
function requestHostname({ host }: IncomingHttpHeaders): string | undefined {
  return URL.parse(`http://${host}`)?.hostname;
}

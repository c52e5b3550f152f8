import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import type { AuditOutcome } from "../../store/index.ts";
import type { AdminDependencies, RouteDependencies } from "../admin-dependencies.ts";
import { type GuardRules, HttpError, operation } from "../operation.ts";
import { presentAuditEntry } from "../present.ts";
import { BOUNDED_SEARCH, filterText, PAGE_QUERY, searchPageOf } from "../request-parameters.ts";
import type { Caller } from "./authenticator.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null on open routes. */
    caller: Caller | null;
    /** The id of its row in the audit log, while it is under way. */
    auditId: number | null;
    /** The thing that the change has made, which its address does not name. */
    auditTarget: string | null;
  }
}

/** On every response. This content security policy allows nothing; the dashboard sets another one. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** The rules of the matched route, never by the text of the URL, which has many spellings. */
function rulesOf(request: FastifyRequest): GuardRules {
  return isWrongPage(request) ? { isPublic: true } : (request.routeOptions.schema?.guard ?? {});
}

/** Whether a browser asks for an unknown address: it gets the page, which shows that. */
export function isWrongPage({ is404, method, url, headers }: FastifyRequest): boolean {
  return is404 && method === "GET" && headers.accept?.includes("text/html") === true && !url.startsWith("/api/");
}

/** Authorizes every request to the admin listener, and records changes in the audit log. */
export function registerGuard(app: FastifyInstance, deps: RouteDependencies): void {
  app.decorateRequest("caller", null);
  app.addHook("onRoute", ({ method, url, schema: { guard: rules = {} } = {} }) => {
    if (rules.isPublic || rules.action !== undefined || ![method].flat().some(isUnsafe)) return;
    // The audit log could not name a change without an action.
    throw new Error(`${[method].flat().join(", ")} ${url}: its operation names no action for the audit log`);
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(HEADERS);
    request.caller = await callerOf(request, deps);
  });
  registerAudit(app, deps);
}

/** The caller where the route needs one. @throws HttpError where the request is refused */
async function callerOf(request: FastifyRequest, deps: RouteDependencies) {
  const { access, authenticator, recordRefusal } = deps;
  const { headers, method } = request;
  const rules = rulesOf(request);
  if (!rules.anyHost && !hasAllowedHost(headers, access.isAllowedHost))
    throw new HttpError(
      421,
      "this listener accepts only host names of this machine; where operators use another address, set " +
        "ADMIN_BASE_URL to it",
    );
  const from = requestOrigin(headers, access.baseUrl);
  if (rules.isPublic) {
    if (isUnsafe(method) && from === "cross-origin") throw new HttpError(403, deps.crossOriginError);
    return null;
  }
  const caller = await authenticator.authenticate(request);
  // A browser sends a cookie for any page, but only a page that has a token sends it.
  if (caller.isAmbient && isUnsafe(method) && from !== "same-origin") throw new HttpError(403, deps.crossOriginError);
  const { actor, role } = caller;
  const needed = rules.role ?? (isUnsafe(method) ? "operator" : "viewer");
  if (role === "operator" || needed === "viewer") return caller;
  const action = actionOf(request);
  if (action !== undefined) {
    const attempt = { role, action, target: targetOf(request) };
    const remoteAddress = access.remoteAddress(request.raw);
    recordRefusal({ remoteAddress, actor, reason: "the role is viewer", attempt });
  }
  throw new HttpError(403, "this needs the role operator; yours is viewer");
}

export function requireCaller({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error("a public route has no caller");
  return caller;
}

/** Whether a method may change something (RFC 9110 §9.2.1). */
function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Only HTTP/1.0 comes without a host, and no browser speaks it. */
function hasAllowedHost({ host }: IncomingHttpHeaders, isAllowed: (hostname: string) => boolean): boolean {
  if (host === undefined) return true;
  const hostname = URL.parse(`http://${host}`)?.hostname;
  return hostname !== undefined && isAllowed(hostname);
}

/**
 * Which page has sent a request, by `Sec-Fetch-Site`, which browsers set and pages cannot. Over plain HTTP, other than to
 * loopback, browsers send only `Origin`. Every current browser sends one of the two with an unsafe method.
 * @param baseUrl the origin that operators use, where a proxy changes `Host`
 */
function requestOrigin(headers: IncomingHttpHeaders, baseUrl: string | null) {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? "same-origin" : "cross-origin";
  if (headers.origin === undefined) return "no browser";
  const origin = URL.parse(headers.origin);
  const isSame = origin !== null && (origin.origin === baseUrl || origin.host === headers.host);
  return isSame ? "same-origin" : "cross-origin";
}

const LIST = operation({
  summary: "The audit log",
  description: `Every change requested through the admin API, every sign-in, and every refused request. ${BOUNDED_SEARCH}`,
  querystring: {
    ...PAGE_QUERY,
    action: filterText("Only these, such as `failure.replay`.", 512),
    actor: filterText("Only of this actor: `token`, a mail address, or `sub:` and a subject.", 512),
  },
  responses: { 200: ["A page of it.", { pageOf: "AuditEntry" }] },
});

export function registerAuditRoutes(app: FastifyInstance, { store }: AdminDependencies): void {
  app.get("/api/v1/audit", LIST, async ({ query }) => {
    const { action, actor } = query;
    return searchPageOf(query, (page) => store.audit.search({ action, actor }, page), presentAuditEntry);
  });
}

/**
 * Records every change of an authenticated caller before and after it. A change that cannot be recorded is not made. Public
 * routes have no caller yet: the sign-in records itself.
 */
function registerAudit(app: FastifyInstance, { store, clock, log, access }: RouteDependencies): void {
  app.decorateRequest("auditId", null);
  app.decorateRequest("auditTarget", null);
  const changes = new Set<FastifyRequest>();
  let whenIdle = () => {};
  // Changes finish before the connections close: the outside work of a replay must not be cut off and repeated.
  app.addHook("preClose", () => {
    return new Promise<void>((resolve) => {
      // The last response is written in the event loop's turn in which its change ends.
      whenIdle = () => void setImmediate(resolve);
      if (changes.size === 0) resolve();
    });
  });
  // The request is valid here, and nothing has been done.
  app.addHook("preHandler", async (request) => {
    const action = actionOf(request);
    if (request.caller === null || action === undefined) return;
    changes.add(request);
    const { actor, role } = request.caller;
    const remoteAddress = access.remoteAddress(request.raw);
    const what = { action, target: targetOf(request), detail: detailOf(request), outcome: null };
    try {
      request.auditId = await store.audit.begin({ at: clock.now(), actor, role, remoteAddress, ...what });
    } catch (error) {
      log.error({ err: error, action }, "the audit log could not be written, so a change was not made");
      const message = "the audit log cannot be written just now, so nothing was done; try again in a moment";
      throw new HttpError(503, message);
    }
  });
  const complete = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { auditId, auditTarget } = request;
    request.auditId = null;
    const failed = (err: unknown) => log.error({ err, id: auditId }, "the audit log could not be completed");
    if (auditId !== null) await store.audit.end(auditId, outcomeOf(reply.statusCode), auditTarget).catch(failed);
    if (changes.delete(request) && changes.size === 0) whenIdle();
  };
  // Before the response, so that a client that has it finds the outcome in the list.
  app.addHook("onSend", (request, reply) => complete(request, reply));
  // A hijacked response passes no `onSend`.
  app.addHook("onResponse", complete);
}

/** The action's name in the audit log; before validation the query still holds texts. */
function actionOf(request: FastifyRequest): string | undefined {
  const { action, dryRunAction } = rulesOf(request);
  const { dry_run } = (request.query ?? {}) as { dry_run?: unknown };
  return dry_run === true || dry_run === "true" ? (dryRunAction ?? action) : action;
}

/** The parameters of the path in their order, such as `platform/evt_1`. */
function targetOf({ params }: FastifyRequest): string | null {
  return Object.values(params ?? {}).join("/") || null;
}

function detailOf(request: FastifyRequest): JsonObject | null {
  const { query, body } = request;
  const { auditedFields = [] } = rulesOf(request);
  const fields = isJsonObject(body) ? body : {};
  const kept = Object.entries(fields).filter(([name]) => auditedFields.includes(name));
  const detail = { ...(query as JsonObject), ...Object.fromEntries(kept) };
  return Object.keys(detail).length === 0 ? null : detail;
}

function outcomeOf(status: number): AuditOutcome {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}

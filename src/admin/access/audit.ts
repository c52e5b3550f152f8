import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import type { AuditOutcome, NewAuditEntry, StoredAuditEntry } from "../../store/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { operation } from "../operation.ts";
import { NO_NUL, PAGE_QUERY, type PageQuery, pageOf } from "../request-parameters.ts";
import type { Caller } from "./access.ts";
import { actionOf, type GuardRules } from "./access.ts";
import type { AuditEntryView } from "./access-schemas.ts";

const text = (description: string) => ({
  type: "string",
  minLength: 1,
  maxLength: 512,
  pattern: NO_NUL,
  description,
});

const LIST = operation({
  summary: "The audit log",
  description: "Every change requested through the admin API, every sign-in, and every refused request.",
  querystring: {
    type: "object",
    properties: {
      ...PAGE_QUERY,
      action: text("Only these, such as `failure.replay`."),
      actor: text("Only of this actor: `token`, a mail address, or `sub:` and a subject."),
    },
    additionalProperties: false,
  },
  responses: { 200: { description: "A page of it.", content: { pageOf: "AuditEntry" } } },
});

/** `GET /api/v1/audit`. */
export function registerAuditRoutes(app: FastifyInstance, { store }: AdminDependencies): void {
  app.get<{ Querystring: PageQuery & { action?: string; actor?: string } }>(
    "/api/v1/audit",
    { schema: LIST },
    async ({ query }) => {
      const { action, actor } = query;
      const filter = {
        ...(action === undefined ? {} : { action }),
        ...(actor === undefined ? {} : { actor }),
      };
      return pageOf(query, (page) => store.audit.list(page, filter), present);
    },
  );
}

function present({ remoteAddress, ...entry }: StoredAuditEntry): AuditEntryView {
  return { ...entry, remote_address: remoteAddress };
}

const NOT_WRITTEN = "the audit log cannot be written just now, so nothing was done; try again in a moment";

/**
 * Records every change of an authenticated caller before and after it. A change that cannot be recorded is not made. Public
 * routes have no caller yet: the sign-in records itself.
 */
export function registerAudit(app: FastifyInstance, { store, clock, log, access }: AdminDependencies): void {
  app.decorateRequest("auditId", null);
  // The request is valid here, and nothing has been done.
  app.addHook("preHandler", async (request, reply) => {
    const { caller, routeOptions, params, query, body } = request;
    const rules: GuardRules = routeOptions.schema?.guard ?? {};
    const action = actionOf(query, rules);
    if (caller === null || action === undefined) return;
    const at = clock.now();
    const remoteAddress = access.remoteAddress(request.raw);
    const entry = {
      at,
      remoteAddress,
      action,
      target: targetOf(params),
      detail: detailOf(query, body, rules.auditedFields ?? []),
    };
    try {
      request.auditId = await store.audit.begin({ ...entry, ...actorOf(caller), outcome: null });
    } catch (error) {
      log.error({ err: error, action }, "the audit log could not be written, so a change was not made");
      return reply.code(503).send({ error: NOT_WRITTEN });
    }
  });
  const complete = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { auditId } = request;
    if (auditId === null) return;
    request.auditId = null;
    try {
      await store.audit.end(auditId, outcomeOf(reply.statusCode));
    } catch (error) {
      log.error({ err: error, id: auditId }, "the audit log could not be completed");
    }
  };
  // Before the response, so that a client with the response finds the outcome in the list.
  app.addHook("onSend", (request, reply) => complete(request, reply));
  // An answer that a route writes by itself comes by no other way.
  app.addHook("onResponse", complete);
}

function actorOf({ actor, role }: Caller): Pick<NewAuditEntry, "actor" | "role"> {
  return { actor, role };
}

/** The parameters of the path in their order, such as `platform/evt_1`. */
export function targetOf(params: unknown): string | null {
  const parts = Object.values((params ?? {}) as Record<string, unknown>);
  return parts.length === 0 ? null : parts.join("/");
}

function detailOf(query: unknown, body: unknown, auditedFields: readonly string[]): JsonObject | null {
  const fields = isJsonObject(body) ? body : {};
  const kept = auditedFields.flatMap((name): [string, JsonValue][] => {
    const value = fields[name];
    return value === undefined ? [] : [[name, value]];
  });
  const detail = { ...(query as JsonObject), ...Object.fromEntries(kept) };
  return Object.keys(detail).length === 0 ? null : detail;
}

function outcomeOf(status: number): AuditOutcome {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}

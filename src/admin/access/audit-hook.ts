import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import type { AuditOutcome, NewAuditEntry } from "../../store/index.ts";
import type { AdminDeps } from "../admin-deps.ts";
import type { Caller } from "./access.ts";
import { actionOf, type GuardRules } from "./guard-rules.ts";

const NOT_WRITTEN = "the audit log cannot be written just now, so nothing was done; try again in a moment";

/**
 * Writes down every change by whoever is known, before it is made and after it. One that cannot be written down is not made. Open
 * routes know nobody yet: who signs in writes it down by himself.
 */
export function registerAudit(app: FastifyInstance, { store, clock, log, access }: AdminDeps): void {
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
      subject: subjectOf(params),
      detail: detailOf(query, body, rules.told ?? []),
    };
    try {
      request.auditId = await store.audit.begin({ ...entry, ...whoOf(caller), outcome: null });
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
  // Before the answer, so that whoever has it finds the outcome in the list.
  app.addHook("onSend", (request, reply) => complete(request, reply));
  // An answer that a route writes by itself comes by no other way.
  app.addHook("onResponse", complete);
}

function whoOf({ who, role }: Caller): Pick<NewAuditEntry, "who" | "role"> {
  return { who, role };
}

/** The parameters of the path in their order, such as `platform/evt_1`. */
export function subjectOf(params: unknown): string | null {
  const parts = Object.values((params ?? {}) as Record<string, unknown>);
  return parts.length === 0 ? null : parts.join("/");
}

function detailOf(query: unknown, body: unknown, told: readonly string[]): JsonObject | null {
  const fields = isJsonObject(body) ? body : {};
  const kept = told.flatMap((name): [string, JsonValue][] => {
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

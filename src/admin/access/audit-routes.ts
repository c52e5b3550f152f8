import type { FastifyInstance } from "fastify";
import type { StoredAuditEntry } from "../../store/index.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { operation } from "../operation.ts";
import { NO_NUL, PAGE_QUERY, type PageQuery, pageOf } from "../paging.ts";
import type { AuditEntryView } from "./access-shapes.ts";

const text = (description: string) => ({
  type: "string",
  minLength: 1,
  maxLength: 512,
  pattern: NO_NUL,
  description,
});

const LIST = operation({
  summary: "Who did what",
  description: "Every change that was asked of the admin API, who signed in, and who was not let in.",
  querystring: {
    type: "object",
    properties: {
      ...PAGE_QUERY,
      action: text("Only these, such as `failure.replay`."),
      who: text("Only of this one: `token`, a mail address, or `sub:` and a subject."),
    },
    additionalProperties: false,
  },
  answers: { 200: { says: "A page of it.", content: { pageOf: "AuditEntry" } } },
});

/** `GET /api/v1/audit`. */
export function registerAuditList(app: FastifyInstance, { store }: AdminDeps): void {
  app.get<{ Querystring: PageQuery & { action?: string; who?: string } }>(
    "/api/v1/audit",
    { schema: LIST },
    async ({ query }) => {
      const { action, who } = query;
      const filter = { ...(action === undefined ? {} : { action }), ...(who === undefined ? {} : { who }) };
      return pageOf(query, (page) => store.audit.list(page, filter), present);
    },
  );
}

function present({ remoteAddress, ...entry }: StoredAuditEntry): AuditEntryView {
  return { ...entry, remote_address: remoteAddress };
}

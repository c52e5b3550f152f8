import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { NO_NUL } from "./paging.ts";

const PARAMS = { type: "object", properties: { user_id: { type: "string", pattern: NO_NUL } } } as const;

const QUERY = {
  type: "object",
  properties: { local_only: { type: "boolean", default: false } },
  additionalProperties: false,
} as const;

/**
 * `DELETE /api/users/:user_id/tokens` ends a user's authorization, at the platform and here; with `?local_only=true`
 * here alone, where the platform, or the key that the tokens were encrypted with, is gone for good.
 */
export function registerUserTokens(app: FastifyInstance, { revoke, log }: AdminDeps): void {
  app.delete<{ Params: { user_id: string }; Querystring: { local_only: boolean } }>(
    "/api/users/:user_id/tokens",
    { schema: { params: PARAMS, querystring: QUERY } },
    async ({ params, query }, reply) => {
      const { user_id } = params;
      try {
        if (!(await revoke(user_id, query.local_only ? "here" : "everywhere"))) {
          return reply.code(404).send({ error: "there are no tokens of this user" });
        }
      } catch (error) {
        log.warn({ err: error, user_id }, "tokens could not be revoked");
        const words =
          "the tokens could not be revoked at the platform, so they are kept, and the log says why; " +
          "?local_only=true deletes them here alone";
        return reply.code(502).send({ error: words });
      }
      log.info({ user_id, local_only: query.local_only }, "an operator revoked a user's tokens");
      return reply.code(204).send();
    },
  );
}

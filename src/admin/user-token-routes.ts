import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { NO_NUL } from "./paging.ts";

const PARAMS = { type: "object", properties: { user_id: { type: "string", pattern: NO_NUL } } } as const;

const QUERY = {
  type: "object",
  properties: {
    local_only: {
      type: "boolean",
      default: false,
      description:
        "Deletes them here alone, where the platform or the key that they were encrypted with is gone for good.",
    },
  },
  additionalProperties: false,
} as const;

const REVOKE = operation({
  summary: "End a user's authorization",
  action: "user_tokens.revoke",
  description: "Revokes the tokens at the platform, where it has an address for that, and deletes them.",
  params: PARAMS,
  querystring: QUERY,
  answers: {
    204: { says: "They are gone." },
    404: { says: "There are no tokens of this user." },
    502: { says: "They could not be revoked at the platform, and are kept." },
  },
});

/**
 * `DELETE /api/v1/users/:user_id/tokens` ends a user's authorization, at the platform and here; with `?local_only=true`
 * here alone, where the platform, or the key that the tokens were encrypted with, is gone for good.
 */
export function registerUserTokens(app: FastifyInstance, { revoke, log }: AdminDeps): void {
  app.delete<{ Params: { user_id: string }; Querystring: { local_only: boolean } }>(
    "/api/v1/users/:user_id/tokens",
    { schema: REVOKE },
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

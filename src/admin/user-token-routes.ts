import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";

/** `DELETE /api/users/:user_id/tokens` ends a user's authorization, at the platform and here. */
export function registerUserTokens(app: FastifyInstance, { revoke, log }: AdminDeps): void {
  app.delete<{ Params: { user_id: string } }>("/api/users/:user_id/tokens", async ({ params }, reply) => {
    try {
      if (!(await revoke(params.user_id))) {
        return reply.code(404).send({ error: "there are no tokens of this user" });
      }
    } catch (error) {
      log.warn({ err: error, user_id: params.user_id }, "tokens could not be revoked");
      const words = "the tokens could not be revoked at the platform, so they are kept; the log says why";
      return reply.code(502).send({ error: words });
    }
    log.info({ user_id: params.user_id }, "an operator revoked a user's tokens");
    return reply.code(204).send();
  });
}

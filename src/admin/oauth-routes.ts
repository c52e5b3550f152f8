import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { sha256Hex } from "../sources/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { anyText, time } from "./page-schemas.ts";
import { flag, wholeNumber } from "./request-parameters.ts";

const REVOKE = operation({
  summary: "End a user's authorization",
  action: "user_tokens.revoke",
  description: "Revokes the tokens at the platform, where it has an address for that, and deletes them.",
  params: { user_id: anyText },
  querystring: {
    local_only: flag.describe(
      "Deletes them only here, where the platform or the key that they were encrypted with is gone for good.",
    ),
  },
  responses: {
    204: "They are gone.",
    404: "There are no tokens of this user.",
    502: "They could not be revoked at the platform, and are kept.",
  },
});
const EXPECT = operation({
  summary: "Register the state of an OAuth flow",
  action: "oauth_state.expect",
  auditedFields: ["expires_in"],
  body: z.strictObject({
    // RFC 6749 §10.10 wants it hard to guess; 16 characters is the least that can be.
    state: z.string().min(16).max(1024),
    expires_in: wholeNumber(1, 86_400).default(600).describe("Seconds."),
  }),
  responses: {
    201: ["Registered; only its hash is stored.", { shape: z.strictObject({ expires_at: time() }) }],
  },
});

export function registerOAuth(app: FastifyInstance, { revoke, log, store, clock }: AdminDependencies): void {
  app.post("/api/v1/oauth/states", EXPECT, async ({ body }, reply) => {
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + body.expires_in * 1000);
    await store.redirectStates.register(sha256Hex(body.state), expiresAt, now);
    return reply.code(201).send({ expires_at: expiresAt.toISOString() });
  });
  app.delete("/api/v1/users/:user_id/tokens", REVOKE, async ({ params: { user_id }, query: { local_only } }, reply) => {
    const isRevoked = await revoke(user_id, local_only ? "here" : "everywhere").catch((error: unknown) => {
      log.warn({ err: error, user_id }, "tokens could not be revoked");
      throw new HttpError(
        502,
        "the tokens could not be revoked at the platform, so they are kept, and the log says why; " +
          "?local_only=true deletes them only here",
      );
    });
    if (!isRevoked) throw new HttpError(404, "there are no tokens of this user");
    log.info({ user_id, local_only }, "an operator revoked a user's tokens");
    return reply.code(204).send();
  });
}

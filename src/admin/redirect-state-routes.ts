import type { FastifyInstance } from "fastify";
import { sha256Hex } from "../receive/index.ts";
import type { AdminDeps } from "./admin-deps.ts";

const MAX_SECONDS = 86_400;
const BODY = {
  type: "object",
  required: ["state"],
  properties: {
    // RFC 6749 §10.10 wants it hard to guess; 16 characters is the least that can be.
    state: { type: "string", minLength: 16, maxLength: 1024 },
    expires_in: { type: "integer", minimum: 1, maximum: MAX_SECONDS, default: 600 },
  },
  additionalProperties: false,
} as const;

/** `POST /api/oauth/states` tells of a flow that somebody started: its redirect will bring this state back. */
export function registerRedirectStates(app: FastifyInstance, { store, clock }: AdminDeps): void {
  app.post<{ Body: { state: string; expires_in: number } }>(
    "/api/oauth/states",
    { schema: { body: BODY } },
    async ({ body }, reply) => {
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + body.expires_in * 1000);
      await store.redirectStates.register(sha256Hex(Buffer.from(body.state)), expiresAt, now);
      return reply.code(201).send({ expires_at: expiresAt.toISOString() });
    },
  );
}

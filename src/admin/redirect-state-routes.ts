import type { FastifyInstance } from "fastify";
import { sha256Hex } from "../receive/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";

const MAX_SECONDS = 86_400;
const BODY = {
  type: "object",
  required: ["state"],
  properties: {
    // RFC 6749 §10.10 wants it hard to guess; 16 characters is the least that can be.
    state: { type: "string", minLength: 16, maxLength: 1024 },
    expires_in: { type: "integer", minimum: 1, maximum: MAX_SECONDS, default: 600, description: "Seconds." },
  },
  additionalProperties: false,
} as const;

const EXPECT = operation({
  summary: "Tell of an OAuth flow whose redirect will bring this state back",
  body: BODY,
  action: "oauth_state.expect",
  told: ["expires_in"],
  answers: {
    201: {
      says: "It is expected from now on; only its hash is kept.",
      content: {
        schema: {
          type: "object",
          required: ["expires_at"],
          additionalProperties: false,
          properties: { expires_at: { type: "string", format: "date-time" } },
        },
      },
    },
  },
});

/** `POST /api/v1/oauth/states` tells of a flow that somebody started: its redirect will bring this state back. */
export function registerRedirectStates(app: FastifyInstance, { store, clock }: AdminDeps): void {
  app.post<{ Body: { state: string; expires_in: number } }>(
    "/api/v1/oauth/states",
    { schema: EXPECT },
    async ({ body }, reply) => {
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + body.expires_in * 1000);
      await store.redirectStates.register(sha256Hex(Buffer.from(body.state)), expiresAt, now);
      return reply.code(201).send({ expires_at: expiresAt.toISOString() });
    },
  );
}

import type { FastifyInstance } from "fastify";
import { SANDBOX_TOKEN_PATH, sandboxToken } from "../oauth/index.ts";

/** The sandbox platform's token endpoint; it asks for its own client credentials, as a real one would. */
export function registerSandbox(app: FastifyInstance): void {
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  app.post<{ Body: URLSearchParams }>(SANDBOX_TOKEN_PATH, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const { status, body } = sandboxToken(form, request.headers.authorization);
    return reply.code(status).send(body);
  });
}

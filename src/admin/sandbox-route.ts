import type { FastifyInstance } from "fastify";
import {
  SANDBOX_AUTHORIZE_PATH,
  SANDBOX_TOKEN_PATH,
  sandboxAuthorize,
  sandboxToken,
} from "../oauth/index.ts";

/** They are a platform's, which has a client of its own, and no part of the admin API. */
const NOT_OURS = { schema: { hide: true, guard: { isOpen: true } } };

/** The sandbox platform's endpoints; the token endpoint asks for its own client credentials, as a real one would. */
export function registerSandbox(app: FastifyInstance, redirectUri: string): void {
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  app.get(SANDBOX_AUTHORIZE_PATH, NOT_OURS, async (request, reply) => {
    const [, query = ""] = request.url.split("?", 2);
    const location = sandboxAuthorize(new URLSearchParams(query), redirectUri);
    if (location === undefined)
      return reply
        .code(400)
        .send({ error: `this is no start of a flow with PKCE that comes back to ${redirectUri}` });
    return reply.code(303).header("location", location).send();
  });
  app.post<{ Body: URLSearchParams }>(SANDBOX_TOKEN_PATH, NOT_OURS, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const { status, body } = sandboxToken(form, request.headers.authorization);
    return reply.code(status).send(body);
  });
}

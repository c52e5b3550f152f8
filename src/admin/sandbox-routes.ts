import type { FastifyInstance, FastifyReply } from "fastify";
import { VERSIONS } from "../domain/index.ts";
import {
  SANDBOX_AUTHORIZE_PATH,
  SANDBOX_TOKEN_PATH,
  sandboxAuthorize,
  sandboxToken,
} from "../oauth/index.ts";
import type { AdminDependencies, Sandbox, SandboxError } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { CALLBACK_PATHS, type SandboxRequest } from "./page-schemas.ts";

/** Its text may be escaped, and longer than the body that it stands for; what is too long for the receiver shall be seen there. */
const MAX_BYTES = 4_194_304;
const IN_PRODUCTION = { 404: { description: "This is production, where there is no sandbox." } };
const UNAVAILABLE = {
  502: { description: "The public listener did not answer." },
  503: { description: "The receiver starts or drains." },
};
const BODY = {
  type: "object",
  required: ["body"],
  properties: {
    body: { type: "string", description: "Sent as it is; it need not be an event." },
    path: { type: "string", enum: CALLBACK_PATHS, default: CALLBACK_PATHS[0] },
    version: { type: "string", enum: VERSIONS, description: "Sent as X-API-Version." },
    sign: {
      type: "string",
      enum: ["right", "wrong", "none"],
      default: "right",
      description: "`wrong`: with a random secret, to see the refusal.",
    },
  },
  additionalProperties: false,
} as const;

const SAMPLES = operation({
  summary: "Outside production: an event of each type, to begin with",
  responses: { 200: { description: "All of them.", content: "Sandbox" }, ...IN_PRODUCTION },
});
const SEND = operation({
  summary: "Outside production: sign a callback, send it to this receiver, see the answer",
  action: "sandbox.send",
  auditedFields: ["path", "version", "sign"],
  description:
    "Signed as AUTH_METHOD says with the receiver's own secrets, and sent over HTTP to the public listener, where it is a callback like any other: it is logged, it counts against the rate limits, and its event is handled.",
  body: BODY,
  responses: {
    200: { description: "It was answered; `response.status` says how.", content: "SandboxResult" },
    ...IN_PRODUCTION,
    409: { description: "Only the platform, with its private key, can sign." },
    ...UNAVAILABLE,
  },
});
const RUN_OAUTH_FLOW = operation({
  summary: "Outside production: sign in at the sandbox platform, step by step",
  action: "sandbox.oauth",
  description:
    "As a browser with cookies of its own would: the start of a flow, the platform, the redirect. It stores the user `sandbox-user`.",
  responses: {
    200: { description: "It was walked; `signed_in` says how it ended.", content: "SandboxFlow" },
    ...IN_PRODUCTION,
    409: {
      description: "An authorization server is configured, so that flows do not go to the sandbox platform.",
    },
    ...UNAVAILABLE,
  },
});

/** `GET /api/v1/sandbox`, `POST /api/v1/sandbox/events` and `POST /api/v1/sandbox/oauth`. */
export function registerSandboxRoutes(app: FastifyInstance, { sandbox, isServing }: AdminDependencies): void {
  async function tried<View extends object>(
    reply: FastifyReply,
    attempt: (at: Sandbox) => Promise<View | SandboxError>,
  ): Promise<FastifyReply> {
    if (sandbox === null) return notInProduction(reply);
    if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
    const ending = await attempt(sandbox);
    return "error" in ending ? reply.code(ending.status).send({ error: ending.error }) : reply.send(ending);
  }

  app.get("/api/v1/sandbox", { schema: SAMPLES }, async (_request, reply) =>
    sandbox === null ? notInProduction(reply) : sandbox.samples(),
  );
  app.post<{ Body: SandboxRequest }>(
    "/api/v1/sandbox/events",
    { schema: SEND, bodyLimit: MAX_BYTES },
    (request, reply) => tried(reply, (at) => at.send(request.body)),
  );
  app.post("/api/v1/sandbox/oauth", { schema: RUN_OAUTH_FLOW }, (_request, reply) =>
    tried(reply, (at) => at.runOAuthFlow()),
  );
}

function notInProduction(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: "there is no sandbox in production" });
}

/** They are a platform's, which has a client of its own, and no part of the admin API. */
const PLATFORM_ROUTE = { schema: { hide: true, guard: { isPublic: true } } };

/** The sandbox platform's endpoints; the token endpoint asks for its own client credentials, as a real one would. */
export function registerSandboxPlatform(app: FastifyInstance, redirectUri: string): void {
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  app.get(SANDBOX_AUTHORIZE_PATH, PLATFORM_ROUTE, async (request, reply) => {
    const [, query = ""] = request.url.split("?", 2);
    const location = sandboxAuthorize(new URLSearchParams(query), redirectUri);
    if (location === undefined)
      return reply
        .code(400)
        .send({ error: `this is no start of a flow with PKCE that comes back to ${redirectUri}` });
    return reply.code(303).header("location", location).send();
  });
  app.post<{ Body: URLSearchParams }>(SANDBOX_TOKEN_PATH, PLATFORM_ROUTE, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const { status, body } = sandboxToken(form, request.headers.authorization);
    return reply.code(status).send(body);
  });
}

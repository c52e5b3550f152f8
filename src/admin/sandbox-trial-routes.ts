import type { FastifyInstance, FastifyReply } from "fastify";
import { VERSIONS } from "../domain/index.ts";
import type { AdminDeps, Sandbox, Untried } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { CALLBACK_PATHS, type SandboxSending } from "./sandbox-shapes.ts";

/** Its text may be escaped, and longer than the body that it stands for; what is too long for the receiver shall be seen there. */
const MOST_BYTES = 4_194_304;
const NOT_HERE = { 404: { says: "This is production, where there is no sandbox." } };
const NOT_YET = {
  502: { says: "The public listener did not answer." },
  503: { says: "The receiver starts or drains." },
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
      description: "`wrong`: with a secret of nobody's, to see the refusal.",
    },
  },
  additionalProperties: false,
} as const;

const SAMPLES = operation({
  summary: "Outside production: an event of each type, to begin with",
  answers: { 200: { says: "All of them.", content: "Sandbox" }, ...NOT_HERE },
});
const SEND = operation({
  summary: "Outside production: sign a callback, send it to this receiver, see the answer",
  action: "sandbox.send",
  told: ["path", "version", "sign"],
  description:
    "Signed as AUTH_METHOD says with the receiver's own secrets, and sent over HTTP to the public listener, where it is a callback like any other: it is logged, it counts against the rate limits, and its event is handled.",
  body: BODY,
  answers: {
    200: { says: "It was answered; `response.status` says how.", content: "SandboxExchange" },
    ...NOT_HERE,
    409: { says: "Only the platform, with its private key, can sign." },
    ...NOT_YET,
  },
});
const WALK = operation({
  summary: "Outside production: sign in at the sandbox platform, step by step",
  action: "sandbox.oauth",
  description:
    "As a browser with cookies of its own would: the start of a flow, the platform, the redirect. It stores the user `sandbox-user`.",
  answers: {
    200: { says: "It was walked; `signed_in` says how it ended.", content: "SandboxFlow" },
    ...NOT_HERE,
    409: { says: "An authorization server is configured, so that flows do not go to the sandbox platform." },
    ...NOT_YET,
  },
});

/** `GET /api/v1/sandbox`, `POST /api/v1/sandbox/events` and `POST /api/v1/sandbox/oauth`. */
export function registerSandboxTrials(app: FastifyInstance, { sandbox, isServing }: AdminDeps): void {
  async function tried<View extends object>(
    reply: FastifyReply,
    attempt: (at: Sandbox) => Promise<View | Untried>,
  ): Promise<FastifyReply> {
    if (sandbox === null) return notHere(reply);
    if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
    const ending = await attempt(sandbox);
    return "error" in ending ? reply.code(ending.status).send({ error: ending.error }) : reply.send(ending);
  }

  app.get("/api/v1/sandbox", { schema: SAMPLES }, async (_request, reply) =>
    sandbox === null ? notHere(reply) : sandbox.samples(),
  );
  app.post<{ Body: SandboxSending }>(
    "/api/v1/sandbox/events",
    { schema: SEND, bodyLimit: MOST_BYTES },
    (request, reply) => tried(reply, (at) => at.send(request.body)),
  );
  app.post("/api/v1/sandbox/oauth", { schema: WALK }, (_request, reply) => tried(reply, (at) => at.walk()));
}

function notHere(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: "there is no sandbox in production" });
}

import { isIP } from "node:net";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { SANDBOX_AUTHORIZE_PATH, SANDBOX_TOKEN_PATH, sandboxAuthorize, sandboxToken } from "../oauth/index.ts";
import type { Page } from "../store/index.ts";
import type { AdminDependencies, Sandbox, SandboxError } from "./admin-dependencies.ts";
import { assertServing } from "./health-routes.ts";
import { HIDDEN_ROUTE, HttpError, operation } from "./operation.ts";
import { anyText, SANDBOX_REQUEST, SANDBOX_SOURCE_REQUEST } from "./page-schemas.ts";
import { filterText, PAGE_QUERY, pageOf, text } from "./request-parameters.ts";
import { RELEARN_REQUEST } from "./schemas.ts";
import { SOURCE_DETAILS } from "./source-details-schema.ts";
import { SOURCE_HEALTH } from "./source-health-schema.ts";
import { SOURCE_HISTORY } from "./source-history-schema.ts";

const LIST = operation({
  summary: "Endpoint URLs, secrets and event types",
  responses: { 200: ["All of it.", "Sources"] },
});
const HEALTH = operation({
  summary: "How each source fares",
  description: "The outcomes and the p99 of its last hour, its platform's deadline, and its last callback.",
  responses: { 200: ["All of them.", { shape: z.strictObject({ items: z.array(SOURCE_HEALTH) }) }] },
});
const OF_ONE = {
  params: { source: anyText.describe("One of the items of the list.") },
  absent: "There is no such source.",
};
const HISTORY = operation({
  summary: "How long a source's callbacks took",
  description:
    "From the counts of the overview, whatever the log holds; the slowest callbacks by a bounded look at the log.",
  params: OF_ONE.params,
  querystring: { span: z.enum(["hour", "day", "month"]).default("day") },
  responses: { 200: ["Its latency over time.", { shape: SOURCE_HISTORY }], 404: OF_ONE.absent },
});
const DETAILS = operation({
  summary: "What never reached a handler of a source",
  description: "Its ignored events by type, its reconciliation, and its last endpoint check.",
  params: OF_ONE.params,
  responses: { 200: ["All of it.", { shape: SOURCE_DETAILS }], 404: OF_ONE.absent },
});
const CHECK = operation({
  summary: "Check the registered addresses",
  action: "source.check",
  description:
    "Sends an unsigned callback to each address of the source, below CALLBACK_BASE_URL, as a platform would, and looks whether it arrived at a receiver of this database. Its requests count against the rate limits.",
  params: { source: anyText.describe("One of the items of the list, or `oauth` for its redirect address.") },
  responses: {
    200: ["Checked; `reached` holds the result.", "EndpointCheck"],
    404: "There is no such source.",
    409: "A check is in progress.",
    503: "The receiver starts or drains.",
  },
});

const TENANTS = operation({
  summary: "When the secrets of each tenant were used",
  description:
    "Of a source whose tenants have secrets of their own, the tenant that was first seen last at the head. Only authentic callbacks count; a tenant that sends none for 90 days is left out.",
  params: { source: anyText.describe("A name of `sources`.") },
  querystring: { ...PAGE_QUERY, tenant: filterText("Only this tenant.", 512) },
  responses: {
    200: ["A page of them.", { pageOf: "Tenant" }],
    404: "There is no source of this name whose tenants have secrets of their own.",
  },
});

const RELEARN = operation({
  summary: "Take another secret from a platform that chooses it itself",
  action: "source.relearn",
  auditedFields: ["forget", "from", "choose", "fingerprint"],
  description:
    "Such a platform sends its secret when the address is registered, and anybody can send one: so one is taken while none is known, and otherwise only for fifteen minutes after this. The secrets before it verify as well, unless they are forgotten. The log and the list of sources have the fingerprint and the address of each secret that is sent.",
  params: { source: anyText.describe("A name of `sources`.") },
  body: RELEARN_REQUEST,
  responses: {
    200: ["It takes one secret.", "Relearn"],
    404: "There is no such source.",
    409: "Its platform chooses no secret; its secret is configured.",
  },
});

function isNetwork(text: string): boolean {
  const [address = "", bits] = text.split("/");
  return isIP(address) > 0 && Number(bits ?? 0) <= (isIP(address) === 4 ? 32 : 128);
}

const NO_SOURCE = "there is no source of this name";

export function registerSources(app: FastifyInstance, deps: AdminDependencies): void {
  const { sources, log } = deps;
  app.get("/api/v1/sources", LIST, async () => sources.list());
  app.get("/api/v1/sources/health", HEALTH, async () => ({ items: [...(await sources.health())] }));
  app.get("/api/v1/sources/:source/history", HISTORY, async ({ params: { source }, query: { span } }) =>
    known(await sources.history(source, span)),
  );
  app.get("/api/v1/sources/:source/details", DETAILS, async ({ params: { source } }) =>
    known(await sources.details(source)),
  );
  app.get("/api/v1/sources/:source/tenants", TENANTS, async ({ params: { source }, query }) => {
    const list = async (page: Page) => {
      const tenants = await sources.tenants(source, query.tenant, page);
      if (tenants !== "absent") return [...tenants];
      throw new HttpError(404, "there is no source of this name whose tenants have secrets of their own");
    };
    return pageOf(query, list, ({ tenant, currentUsedAt, previousUsedAt }) => {
      return { tenant, current_used_at: currentUsedAt, previous_used_at: previousUsedAt };
    });
  });
  app.post("/api/v1/sources/:source/check", CHECK, async ({ params: { source } }) => {
    assertServing(deps);
    const result = await sources.check(source);
    if (result === "absent") throw new HttpError(404, NO_SOURCE);
    if (result === "busy") throw new HttpError(409, "a check is in progress; try again in a few seconds");
    log.info({ source, reached: result.reached }, "an operator had the registered addresses checked");
    return result;
  });
  app.post("/api/v1/sources/:source/relearn", RELEARN, async ({ params: { source }, body }) => {
    if (body.from !== undefined && !isNetwork(body.from))
      throw new HttpError(400, "from: expected an address or a network, such as 192.0.2.7 or 192.0.2.0/24");
    if ([body.from, body.choose || undefined, body.fingerprint].filter((one) => one !== undefined).length > 1)
      throw new HttpError(400, "fingerprint: expected only one of fingerprint, from and choose");
    const result = await sources.relearn(source, body);
    if (result === "unknown")
      throw new HttpError(404, "no secret of this fingerprint was sent in the last day; see oncehook sources");
    if (result === "absent") throw new HttpError(404, NO_SOURCE);
    if (result === "fixed") throw new HttpError(409, "the platform of this source chooses no secret");
    log.warn(
      { source, until: result.until, ...body },
      "an operator has opened a source for another secret, or has chosen one",
    );
    return result;
  });
}

function known<View extends object>(view: View | "absent"): View {
  if (view === "absent") throw new HttpError(404, NO_SOURCE);
  return view;
}

/** JSON escapes may make a body longer. The receiver itself refuses one that is too long. */
const MAX_BYTES = 4_194_304;
const IN_PRODUCTION = { 404: "This is production, where there is no sandbox." };
const UNAVAILABLE = { 502: "The public listener did not answer.", 503: "The receiver starts or drains." };
const SAMPLES = operation({
  summary: "Outside production: an event of each type, to begin with",
  responses: { 200: ["All of them.", "Sandbox"], ...IN_PRODUCTION },
});
const SEND = operation({
  summary: "Outside production: sign a callback, send it to this receiver, see the answer",
  action: "sandbox.send",
  auditedFields: ["path", "version", "sign"],
  description:
    "Signed as AUTH_METHOD says with the receiver's own secrets, and sent over HTTP to the public listener, where it is a callback like any other: it is logged, it counts against the rate limits, and its event is handled.",
  body: SANDBOX_REQUEST,
  responses: {
    200: ["It was answered; `response.status` says how.", "SandboxResult"],
    ...IN_PRODUCTION,
    409: "Only the platform, with its private key, can sign.",
    ...UNAVAILABLE,
  },
});
const SOURCE = { source: anyText.describe("One of `sources`.") };
const SOURCE_SAMPLE = operation({
  summary: "Outside production: a callback of a source, to begin with",
  params: { ...SOURCE, type: text("The event's type.", 256) },
  responses: {
    200: ["It is not sent.", "SandboxSample"],
    404: "There is no such source, or this is production.",
    409: "Only the platform can make such a callback; the message says why.",
  },
});
const SEND_AS = operation({
  summary: "Outside production: sign a callback as a source's platform does, send it to this receiver, see the answer",
  action: "sandbox.source",
  auditedFields: ["type", "sign"],
  description:
    "With the headers of its platform, and signed with the source's current secret. It is sent over HTTP to the public listener, where it is a callback like any other.",
  params: SOURCE,
  body: SANDBOX_SOURCE_REQUEST,
  responses: {
    200: ["It was answered; `response.status` says how.", "SandboxResult"],
    404: "There is no such source, or this is production.",
    409: "Only the platform can sign such a callback; the message says why.",
    ...UNAVAILABLE,
  },
});
const RUN_OAUTH_FLOW = operation({
  summary: "Outside production: sign in at the sandbox platform, step by step",
  action: "sandbox.oauth",
  description:
    "As a browser with cookies of its own would: the start of a flow, the platform, the redirect. It stores the user `sandbox-user`.",
  responses: {
    200: ["It was walked; `signed_in` says how it ended.", "SandboxFlow"],
    ...IN_PRODUCTION,
    409: "An authorization server is configured, so that flows do not go to the sandbox platform.",
    ...UNAVAILABLE,
  },
});

export function registerSandboxRoutes(app: FastifyInstance, deps: AdminDependencies): void {
  const sandbox = (): Sandbox => {
    if (deps.sandbox === null) throw new HttpError(404, "there is no sandbox in production");
    return deps.sandbox;
  };
  async function run<View extends object>(action: (sandbox: Sandbox) => Promise<View | SandboxError>) {
    const available = sandbox();
    assertServing(deps);
    const result = await action(available);
    if ("error" in result) throw new HttpError(result.status, result.error);
    return result;
  }
  app.get("/api/v1/sandbox", SAMPLES, async () => sandbox().samples());
  app.post("/api/v1/sandbox/events", { ...SEND, bodyLimit: MAX_BYTES }, ({ body }) => run(({ send }) => send(body)));
  app.get("/api/v1/sandbox/sources/:source/samples/:type", SOURCE_SAMPLE, ({ params: { source, type } }) =>
    run(({ sourceSample }) => sourceSample(source, type)),
  );
  app.post(
    "/api/v1/sandbox/sources/:source/events",
    { ...SEND_AS, bodyLimit: MAX_BYTES },
    ({ params: { source }, body }) => run(({ sendAs }) => sendAs(source, body)),
  );
  app.post("/api/v1/sandbox/oauth", RUN_OAUTH_FLOW, () => run(({ runOAuthFlow }) => runOAuthFlow()));
}

/** The sandbox platform's endpoints; the token endpoint asks for its own client credentials, as a real one would. */
export function registerSandboxPlatform(app: FastifyInstance, redirectUri: string): void {
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  app.get(SANDBOX_AUTHORIZE_PATH, HIDDEN_ROUTE, async (request, reply) => {
    const [, query = ""] = request.url.split("?", 2);
    const location = sandboxAuthorize(new URLSearchParams(query), redirectUri);
    if (location !== undefined) return reply.code(303).header("location", location).send();
    throw new HttpError(400, `this is no start of a flow with PKCE that comes back to ${redirectUri}`);
  });
  app.post(SANDBOX_TOKEN_PATH, HIDDEN_ROUTE, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const { status, body } = sandboxToken(form, request.headers.authorization);
    return reply.code(status).send(body);
  });
}

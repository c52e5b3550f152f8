import { createServer } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { createSparingLog, ofSegment } from "../domain/index.ts";
import { StoreFault } from "../store/index.ts";
import { registerAuditList } from "./access/audit-routes.ts";
import { createDoor, type Door } from "./access/door.ts";
import { registerGuard } from "./access/guard.ts";
import { registerProvider } from "./access/provider-routes.ts";
import { registerSessions } from "./access/session-routes.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { registerBulkReplays } from "./bulk-replay-routes.ts";
import { registerCallbacks } from "./callback-routes.ts";
import { compileLater, JSON_ALONE } from "./compilers.ts";
import { registerDashboard } from "./dashboard-routes.ts";
import { NO_ANSWER, registerDatabaseWatch } from "./database-answers.ts";
import { describeApi } from "./describe-api.ts";
import { registerDescription } from "./description-route.ts";
import { registerEventHistory } from "./event-history-route.ts";
import { registerFailures } from "./failure-routes.ts";
import { registerHealth } from "./health-routes.ts";
import { registerLists } from "./list-routes.ts";
import { registerLive } from "./live/live-route.ts";
import { registerNotifications } from "./notification-routes.ts";
import { registerOverview } from "./overview-routes.ts";
import { registerRedirectStates } from "./redirect-state-routes.ts";
import { registerSandbox } from "./sandbox-route.ts";
import { registerSandboxTrials } from "./sandbox-trial-routes.ts";
import { registerSources } from "./source-routes.ts";
import { registerUserTokens } from "./user-token-routes.ts";
import { validationInWords } from "./validation-words.ts";

/** An event id may be 255 bytes, each of them percent-encoded. */
const MAX_PARAM_LENGTH = 1024;
const LONG_SEGMENT = `a segment of the path is too long; at most ${MAX_PARAM_LENGTH} characters are expected`;
/** For all of a request; an operator's is small, and who sends none of it has a connection no longer than that. */
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUTS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: 10_000,
  /** Longer than a proxy keeps an idle connection. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 5_000,
};
const OPERATIONS = [
  registerHealth,
  registerCallbacks,
  registerLive,
  registerOverview,
  registerLists,
  registerEventHistory,
  registerFailures,
  registerBulkReplays,
  registerNotifications,
  registerRedirectStates,
  registerUserTokens,
  registerSources,
  registerSandboxTrials,
  registerSessions,
  registerAuditList,
];
/**
 * The listener for operators: health, metrics, and everything else for whoever has a token or is signed in (`access/guard.ts`).
 * It listens on the loopback address unless the configuration says otherwise.
 */
export function createAdminListener(deps: AdminDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // Called once for each address of ADMIN_HOST, such as both of localhost.
    serverFactory(handler) {
      const server = createServer(TIMEOUTS, handler);
      deps.guard?.(server);
      return server;
    },
    schemaController: JSON_ALONE,
    // What finds no route for the shape of its path reaches no handler of errors.
    frameworkErrors: ({ statusCode = 400 }, _request, reply: FastifyReply) =>
      reply
        .code(statusCode)
        .send({ error: statusCode === 414 ? LONG_SEGMENT : "the path cannot be decoded" }),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });
  app.setValidatorCompiler(compileLater);
  // Before everything else, so that the guard, the audit log and the routes all have what was meant.
  app.addHook("onRequest", async ({ params }) => readSegments(params as Record<string, string>));
  registerDatabaseWatch(app, deps);
  const door = createDoor(deps);
  registerGuard(app, deps, door);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
  const sparing = createSparingLog(deps.log, deps.clock);
  app.setErrorHandler((error, request, reply) => {
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    if (statusCode < 500) {
      return reply.code(statusCode).send({ error: validationInWords(error, request) ?? message });
    }
    const { method, routeOptions } = request;
    // A session's cookie is looked up for anybody.
    sparing("error", {
      fields: { err: error, method, path: routeOptions.url },
      message: "an admin request failed",
      cause: `${method} ${routeOptions.url}`,
    });
    return error instanceof StoreFault
      ? reply.code(503).send({ error: `${NO_ANSWER}; what was asked may still be done` })
      : reply.code(500).send({ error: "internal error" });
  });
  registerOperations(app, deps, door);
  registerDashboard(app);
  const { provider } = deps.access;
  if (provider !== null) registerProvider(app, deps, provider, door);
  if (deps.sandbox !== null) registerSandbox(app, deps.sandbox.redirectUri);
  return app;
}

/** The description of the API in OpenAPI 3.1, as every receiver has it. */
export function describeAdminApi(): Promise<object> {
  // To tell of its routes a listener needs nothing that they work with.
  const nothing = { access: {} } as AdminDeps;
  return describeApi((app) => registerOperations(app, nothing, {} as Door));
}

function registerOperations(app: FastifyInstance, deps: AdminDeps, door: Door): void {
  for (const register of OPERATIONS) register(app, deps, door);
  registerDescription(app, describeAdminApi);
}

/** The parameters of a path as they were before they became segments of it. */
function readSegments(params: Record<string, string>): void {
  for (const [name, segment] of Object.entries(params)) params[name] = ofSegment(segment);
}

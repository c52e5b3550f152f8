import { createServer } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import type { z } from "zod";
import { createSparingLog, fromPathSegment } from "../domain/index.ts";
import { StoreError } from "../store/index.ts";
import { createAuthenticator } from "./access/authenticator.ts";
import { registerAuditRoutes, registerGuard } from "./access/guard.ts";
import { registerOidcRoutes, registerSessionRoutes } from "./access/sign-in-routes.ts";
import type { AdminDependencies, RouteDependencies } from "./admin-dependencies.ts";
import { registerCallbackExport, registerCallbacks } from "./callback-routes.ts";
import { registerDashboard } from "./dashboard-routes.ts";
import { registerEvents } from "./event-routes.ts";
import { registerBulkReplays, registerFailures } from "./failure-routes.ts";
import { NO_ANSWER, registerDatabaseWatch, registerHealth } from "./health-routes.ts";
import { registerLive } from "./live/live-routes.ts";
import { registerNotifications } from "./notification-routes.ts";
import { registerOAuth } from "./oauth-routes.ts";
import { HttpError, registerDescription } from "./operation.ts";
import { registerOverview } from "./overview-routes.ts";
import { registerSandboxPlatform, registerSandboxRoutes, registerSources } from "./source-routes.ts";
import { parseRequest } from "./validation-message.ts";

/** An event id may be 255 bytes, each of them percent-encoded. */
const MAX_PARAM_LENGTH = 1024;
const LONG_SEGMENT = `a segment of the path is too long; at most ${MAX_PARAM_LENGTH} characters are expected`;
const TIMEOUTS = {
  /** For all of a request: an operator's is small. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  /** Longer than a proxy keeps an idle connection. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 5_000,
};
const OPERATIONS = [
  registerHealth,
  registerCallbacks,
  registerCallbackExport,
  registerLive,
  registerOverview,
  registerEvents,
  registerFailures,
  registerBulkReplays,
  registerNotifications,
  registerOAuth,
  registerSources,
  registerSandboxRoutes,
  registerSessionRoutes,
  registerAuditRoutes,
  registerDescription,
];
/**
 * The listener for operators: health, metrics, and the rest for authenticated operators (`access/guard.ts`).
 * It listens on the loopback address unless the configuration says otherwise.
 */
export function createAdminListener(deps: AdminDependencies): FastifyInstance {
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
    // The schemas of responses are for the API's description, and are never compiled.
    schemaController: { compilersFactory: { buildSerializer: () => () => JSON.stringify } },
    // The error handler below does not get errors in the path.
    frameworkErrors: ({ statusCode = 400 }, _request, reply: FastifyReply) =>
      reply.code(statusCode).send({ error: statusCode === 414 ? LONG_SEGMENT : "the path cannot be decoded" }),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });
  app.setValidatorCompiler<z.ZodType>(
    ({ schema, httpPart = "" }) =>
      (data) =>
        parseRequest(schema, httpPart, data),
  );
  // First, so that the guard, the audit log and the routes all have the decoded segments.
  app.addHook("onRequest", async (request) => {
    const params = request.params as Record<string, string>;
    for (const [name, segment] of Object.entries(params)) params[name] = fromPathSegment(segment);
  });
  registerDatabaseWatch(app, deps);
  const routeDeps = { ...deps, authenticator: createAuthenticator(deps) };
  registerGuard(app, routeDeps);
  const sparing = createSparingLog(deps.log, deps.clock);
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof HttpError)
      return reply.code(error.statusCode).headers(error.headers).send({ error: error.message });
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    if (statusCode < 500) return reply.code(statusCode).send({ error: message });
    const { method, routeOptions } = request;
    // Any client with a cookie causes a look-up that may fail.
    sparing("error", {
      fields: { err: error, method, path: routeOptions.url },
      message: "an admin request failed",
      cause: `${method} ${routeOptions.url}`,
    });
    return error instanceof StoreError
      ? reply.code(503).send({ error: `${NO_ANSWER}; what was asked may still be done` })
      : reply.code(500).send({ error: "internal error" });
  });
  registerOperations(app, routeDeps);
  registerDashboard(app);
  const { provider } = deps.access;
  if (provider !== null) registerOidcRoutes(app, routeDeps, provider);
  if (deps.sandbox !== null) registerSandboxPlatform(app, deps.sandbox.redirectUri);
  return app;
}

/** The routes that the API's description has. */
export function registerOperations(app: FastifyInstance, deps: RouteDependencies): void {
  for (const register of OPERATIONS) register(app, deps);
}

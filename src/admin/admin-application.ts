import Fastify, { type FastifyInstance, type FastifyReply, type FastifyServerOptions } from "fastify";
import type { z } from "zod";
import { createSparingLog, fromPathSegment } from "../domain/index.ts";
import { StoreError } from "../store/index.ts";
import { registerAuditRoutes, registerGuard } from "./access/guard.ts";
import { registerCurrentSession } from "./access/sign-in-routes.ts";
import type { RouteDependencies } from "./admin-dependencies.ts";
import { registerAlerts } from "./alert-routes.ts";
import { registerBackfills } from "./backfill-routes.ts";
import { registerBulkReplays } from "./bulk-replay-routes.ts";
import { registerCallbacks } from "./callback-routes.ts";
import { registerErasure } from "./erasure-routes.ts";
import { registerEventReplays } from "./event-replay-routes.ts";
import { registerEvents } from "./event-routes.ts";
import { registerExports } from "./export-routes.ts";
import { registerFailures } from "./failure-routes.ts";
import { NO_ANSWER, registerDatabaseWatch, registerHealth } from "./health-routes.ts";
import { registerLive } from "./live/live-routes.ts";
import { registerNotifications } from "./notification-routes.ts";
import { registerOAuth } from "./oauth-routes.ts";
import { HttpError, registerDescription } from "./operation.ts";
import { registerOverview } from "./overview-routes.ts";
import { registerProblems } from "./problem-routes.ts";
import { registerSearch } from "./search/search-routes.ts";
import { registerSettings } from "./settings/settings-routes.ts";
import { registerSources } from "./source-routes.ts";
import { parseRequest } from "./validation-message.ts";

/** An event id may be 255 bytes, each of them percent-encoded. */
const MAX_PARAM_LENGTH = 1024;
const LONG_SEGMENT = `a segment of the path is too long; at most ${MAX_PARAM_LENGTH} characters are expected`;
const OPERATIONS = [
  registerHealth,
  registerCallbacks,
  registerExports,
  registerSearch,
  registerLive,
  registerOverview,
  registerEvents,
  registerEventReplays,
  registerFailures,
  registerBulkReplays,
  registerBackfills,
  registerProblems,
  registerNotifications,
  registerAlerts,
  registerErasure,
  registerOAuth,
  registerSources,
  registerSettings,
  registerCurrentSession,
  registerAuditRoutes,
  registerDescription,
];

/**
 * The admin API without a server and without a way to sign in. It has health, metrics, and the rest for authenticated
 * operators (`access/guard.ts`). A listener serves it, or an application under one of its paths.
 */
export function createAdminApplication(
  deps: RouteDependencies,
  options: Pick<FastifyServerOptions, "forceCloseConnections" | "serverFactory"> = {},
): FastifyInstance {
  const app = Fastify({
    logger: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    ...options,
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
  registerGuard(app, deps);
  registerErrors(app, deps);
  registerOperations(app, deps);
  return app;
}

function registerErrors(app: FastifyInstance, { log, clock }: RouteDependencies): void {
  const sparing = createSparingLog(log, clock);
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
}

/** The routes that the API's description has, and an application too. */
export function registerOperations(app: FastifyInstance, deps: RouteDependencies): void {
  for (const register of OPERATIONS) register(app, deps);
}

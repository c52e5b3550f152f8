import Fastify, { type FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { createBearerCheck } from "./bearer.ts";
import { registerFailures } from "./failure-routes.ts";
import { registerHealth } from "./health-routes.ts";
import { registerLists } from "./list-routes.ts";
import { registerRedirectStates } from "./redirect-state-routes.ts";
import { registerSandbox } from "./sandbox-route.ts";

/** An event id may be 255 bytes, each of them percent-encoded. */
const MAX_PARAM_LENGTH = 1024;

/**
 * The listener for operators: health, metrics, and below `/api/` what needs the bearer token. It listens on the
 * loopback address unless the configuration says otherwise.
 */
export function createAdminListener(deps: AdminDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // A misspelt filter must not silently list everything.
    ajv: { customOptions: { removeAdditional: false } },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });
  const isOperator = createBearerCheck(deps.token);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    if (!request.url.startsWith("/api/") || isOperator(request.headers.authorization)) return;
    const error = "send the admin token: Authorization: Bearer <ADMIN_TOKEN>";
    return reply.code(401).header("www-authenticate", 'Bearer realm="admin"').send({ error });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
  app.setErrorHandler((error, request, reply) => {
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    if (statusCode < 500) return reply.code(statusCode).send({ error: message });
    deps.log.error(
      { err: error, method: request.method, path: request.routeOptions.url },
      "an admin request failed",
    );
    return reply.code(500).send({ error: "internal error" });
  });
  registerHealth(app, deps);
  registerLists(app, deps);
  registerFailures(app, deps);
  registerRedirectStates(app, deps);
  if (deps.sandbox) registerSandbox(app);
  return app;
}

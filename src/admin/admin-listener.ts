import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { SANDBOX_AUTHORIZE_PATH, SANDBOX_TOKEN_PATH } from "../oauth/index.ts";
import { createBearerCheck } from "../verify/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { DASHBOARD_ROUTES, registerDashboard } from "./dashboard-routes.ts";
import { registerDescription } from "./description-route.ts";
import { registerFailures } from "./failure-routes.ts";
import { registerHealth } from "./health-routes.ts";
import { registerLists } from "./list-routes.ts";
import { registerNotifications } from "./notification-routes.ts";
import { registerRedirectStates } from "./redirect-state-routes.ts";
import { registerSandbox } from "./sandbox-route.ts";
import { registerUserTokens } from "./user-token-routes.ts";

/** An event id may be 255 bytes, each of them percent-encoded. */
const MAX_PARAM_LENGTH = 1024;
const OPERATIONS = [
  registerHealth,
  registerLists,
  registerFailures,
  registerNotifications,
  registerRedirectStates,
  registerUserTokens,
];
/** What needs no token: probes, metrics, the empty page, and the sandbox platform, which has a client of its own. */
const OPEN_ROUTES: ReadonlySet<string> = new Set([
  "/healthz",
  "/readyz",
  "/metrics",
  SANDBOX_AUTHORIZE_PATH,
  SANDBOX_TOKEN_PATH,
  ...DASHBOARD_ROUTES,
]);

/**
 * The listener for operators: health, metrics, and everything else with the bearer token. It listens on the
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
  // The schemas of answers are for the API's description; to compile them would take as long as all of the rest.
  app.setSerializerCompiler(() => JSON.stringify);
  const isOperator = createBearerCheck(deps.token);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    // Judged by the route that was found, never by the text of the address, which can be written in many ways.
    if (OPEN_ROUTES.has(request.routeOptions.url ?? "") || isOperator(request.headers.authorization)) return;
    const error = "send the admin token: Authorization: Bearer <ADMIN_TOKEN>";
    return reply.code(401).header("www-authenticate", 'Bearer realm="admin"').send({ error });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
  app.setErrorHandler((error, request, reply) => {
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    if (statusCode < 500) {
      return reply.code(statusCode).send({ error: unknownParameter(error, request) ?? message });
    }
    deps.log.error(
      { err: error, method: request.method, path: request.routeOptions.url },
      "an admin request failed",
    );
    return reply.code(500).send({ error: "internal error" });
  });
  registerRoutes(app, deps);
  return app;
}

function registerRoutes(app: FastifyInstance, deps: AdminDeps): void {
  for (const register of OPERATIONS) register(app, deps);
  registerDescription(app, (inner) => {
    for (const register of OPERATIONS) register(inner, deps);
    registerDescription(inner, () => {});
  });
  registerDashboard(app);
  if (deps.sandbox !== null) registerSandbox(app, deps.sandbox);
}

/** The validation says that some parameter is one too many, not which. */
function unknownParameter(error: unknown, { routeOptions }: FastifyRequest): string | undefined {
  const { validation = [], validationContext } = error as {
    validation?: readonly { readonly params: { readonly additionalProperty?: string } }[];
    validationContext?: string;
  };
  const name = validation.find(({ params }) => params.additionalProperty !== undefined)?.params
    .additionalProperty;
  if (name === undefined || validationContext !== "querystring") return undefined;
  const { properties = {} } = (routeOptions.schema?.querystring ?? {}) as { properties?: object };
  return `there is no query parameter ${JSON.stringify(name)}; there are ${Object.keys(properties).join(", ")}`;
}

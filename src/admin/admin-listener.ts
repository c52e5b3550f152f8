import { createServer } from "node:http";
import type { FastifyInstance } from "fastify";
import { createAuthenticator } from "./access/authenticator.ts";
import { registerOidcRoutes, registerSignIn } from "./access/sign-in-routes.ts";
import { createAdminApplication } from "./admin-application.ts";
import type { ListenerDependencies, SignInDependencies } from "./admin-dependencies.ts";
import { registerDashboard, SERVER_PAGE } from "./dashboard-routes.ts";
import { registerSandboxPlatform, registerSandboxRoutes } from "./source-routes.ts";

const TIMEOUTS = {
  /** For all of a request: an operator's is small. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  /** Longer than a proxy keeps an idle connection. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 5_000,
};
const CROSS_ORIGIN =
  "this request came from another origin; where operators use another address than the listener's, set " +
  "ADMIN_BASE_URL to it";

/**
 * The listener for operators: the admin API, the ways to sign in, the sandbox and the dashboard. It listens on the
 * loopback address unless the configuration says otherwise.
 */
export function createAdminListener(deps: ListenerDependencies): FastifyInstance {
  const authenticator = createAuthenticator(deps);
  const { recordRefusal } = deps.tokenCheck;
  const signInDeps = { ...deps, authenticator, recordRefusal, crossOriginError: CROSS_ORIGIN };
  const app = createAdminApplication(signInDeps, {
    forceCloseConnections: true,
    // Called once for each address of ADMIN_HOST, such as both of localhost.
    serverFactory(handler) {
      const server = createServer(TIMEOUTS, handler);
      deps.guard?.(server);
      return server;
    },
  });
  registerServerOperations(app, signInDeps);
  registerDashboard(app, SERVER_PAGE);
  const { provider } = deps.access;
  if (provider !== null) registerOidcRoutes(app, signInDeps, provider);
  if (deps.sandbox !== null) registerSandboxPlatform(app, deps.sandbox.redirectUri);
  return app;
}

/** The routes of the API's description that only a server has. */
export function registerServerOperations(app: FastifyInstance, deps: SignInDependencies): void {
  registerSandboxRoutes(app, deps);
  registerSignIn(app, deps);
}

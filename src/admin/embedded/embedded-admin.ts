import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { type Caller, createRefusalRecorder } from "../access/authenticator.ts";
import { createAdminApplication } from "../admin-application.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { registerDashboard } from "../dashboard-routes.ts";
import { asServerResponse, messageOf, type WebRequest, WebResponse } from "./web-exchange.ts";

/** Facts of the application about a request that it admitted. */
export interface Admitted {
  /** The path under which the application has the page, such as `/admin/webhooks`; empty at its root. */
  readonly basePath: string;
  readonly clientAddress: string;
  /** Whom the application admitted. */
  readonly caller: Pick<Caller, "actor" | "role">;
  /** Asks the application again, for a response that goes on for long. */
  readonly isStillAllowed: () => Promise<boolean>;
}

interface EmbeddedRequest extends WebRequest, Admitted {}

export interface EmbeddedAdmin {
  answer(request: Request, admitted: Admitted): Promise<Response>;
  /** Ends live streams, and waits for changes under way. */
  close(): Promise<void>;
}

const CROSS_ORIGIN =
  "a change must come from this page itself, and this request came from another origin or names none; a script " +
  "sends no cookie";
const NOT_BUILT =
  "The dashboard's files are not beside the package's code. Where a bundler copied that code, leave the package out " +
  'of the bundle (Next.js: serverExternalPackages: ["oncehook"]). In a clone: npm run build:dashboard\n';

/**
 * The admin API and its page inside an application, without a server: the application has authenticated each request
 * before. Tokens, sessions, sign-in and sandbox do not exist here.
 */
export async function createEmbeddedAdmin(deps: AdminDependencies): Promise<EmbeddedAdmin> {
  const requests = new WeakMap<IncomingMessage, EmbeddedRequest>();
  const requestOf = (message: IncomingMessage): EmbeddedRequest => {
    const request = requests.get(message);
    if (request === undefined) throw new TypeError("every request of an application is one that it admitted");
    return request;
  };
  const app = createAdminApplication({
    ...deps,
    access: {
      baseUrl: null,
      // The application's cookie belongs to its host names, so that another name sends none.
      isAllowedHost: () => true,
      remoteAddress: (message) => requestOf(message).clientAddress,
    },
    authenticator: { authenticate: async ({ raw }) => callerOf(requestOf(raw)), onSessionEnd() {} },
    recordRefusal: createRefusalRecorder(deps.store.audit, deps.clock, deps.log),
    crossOriginError: CROSS_ORIGIN,
  });
  const basePathOf = ({ raw }: FastifyRequest) => requestOf(raw).basePath;
  registerDashboard(app, { access: "application", pages: [], basePathOf, notBuilt: NOT_BUILT });
  await app.ready();
  return {
    async answer(sent, admitted) {
      const request = embeddedRequest(sent, admitted);
      const method = request.method === "HEAD" ? "GET" : request.method;
      const message = messageOf({ ...request, method });
      requests.set(message, request);
      const response = new WebResponse(request);
      // The rest of a body that was refused is left unread.
      response.once("close", () => message.destroy());
      app.routing(message, asServerResponse(response));
      const answer = await response.response;
      // A stream would go on without a reader.
      if (request.method === "HEAD") response.destroy();
      return answer;
    },
    close: () => app.close(),
  };
}

function embeddedRequest({ method, body, signal, headers, url }: Request, admitted: Admitted): EmbeddedRequest {
  const { pathname, search, host } = new URL(url);
  return {
    ...{ method, body, signal },
    target: `${pathname.slice(admitted.basePath.length) || "/"}${search}`,
    headers: { host, ...Object.fromEntries(headers) },
    ...admitted,
  };
}

/** Only a script sends neither a cookie nor what a browser says of a request's origin. */
function callerOf({ caller, headers, isStillAllowed }: EmbeddedRequest): Caller {
  const ofBrowser = ["cookie", "origin", "sec-fetch-site"].some((name) => headers[name] !== undefined);
  return { ...caller, session: null, isAmbient: ofBrowser, isStillAllowed };
}

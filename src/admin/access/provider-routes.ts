import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createSparingLog, type SparingLog } from "../../domain/index.ts";
import { NoFlow, SIGN_IN_SECONDS, type SignedIn, SignInRefused } from "../../oauth/index.ts";
import type { AdminDeps } from "../admin-deps.ts";
import type { Provider } from "./access.ts";
import { beginSession } from "./begin-session.ts";
import type { Door } from "./door.ts";
import { goOn, LATER, NOT_LISTED, NOT_SIGNED_IN, PAGE_HEADERS, type Page, TOO_MANY } from "./pages.ts";
import { readCookie, setCookie } from "./session-cookie.ts";
import { wayBackOf } from "./way-back.ts";

/** They are a browser's way, and no part of the API. */
const PAGE = { schema: { hide: true, guard: { isOpen: true } } };
const SIGN_IN_PATH = "/sign-in/oidc";
export const CALLBACK_PATH = "/sign-in/oidc/callback";

/** `GET /sign-in/oidc` sends a browser to the provider, which sends it back to `/sign-in/oidc/callback`. */
export function registerProvider(
  app: FastifyInstance,
  deps: AdminDeps,
  provider: Provider,
  door: Door,
): void {
  const { access, log, clock } = deps;
  const sparing = createSparingLog(log, clock);
  app.get<{ Querystring: { back?: unknown } }>(SIGN_IN_PATH, PAGE, async (request, reply) => {
    try {
      const { location, flow } = await provider.signIn.begin(wayBackOf(request.query.back));
      const cookie = setCookie("flow", request, access.baseUrl, flow, SIGN_IN_SECONDS);
      return reply.code(303).headers({ location, "set-cookie": cookie }).send();
    } catch (error) {
      const message = "nobody can sign in by OpenID Connect: the provider could not be asked";
      sparing("error", { fields: { err: error }, message });
      return show(reply, LATER);
    }
  });
  app.get(CALLBACK_PATH, PAGE, async (request, reply) => {
    const page = await signIn(request, reply, provider, { ...deps, sparing }, door);
    // It is of no use any more, whatever came of it; `append` keeps the session's.
    reply.header("set-cookie", setCookie("flow", request, access.baseUrl, "", 0));
    return show(reply, page);
  });
}

async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Provider,
  deps: AdminDeps & { readonly sparing: SparingLog },
  door: Door,
): Promise<Page> {
  const remoteAddress = deps.access.remoteAddress(request.raw);
  const key = deps.access.rateKey(remoteAddress);
  if (door.tries.waitOf(key) > 0) return TOO_MANY;
  const [, query = ""] = request.url.split("?", 2);
  let signedIn: SignedIn;
  try {
    const flow = readCookie("flow", request, deps.access.baseUrl);
    signedIn = await provider.signIn.end(new URLSearchParams(query), flow);
  } catch (error) {
    if (error instanceof NoFlow) {
      // Any page can bring that about, so that it must neither count against those at this address nor fill the audit log.
      door.noteStranger(remoteAddress, error.message);
      return NOT_SIGNED_IN;
    }
    if (!(error instanceof SignInRefused)) {
      const message = "a sign-in by OpenID Connect could not be finished";
      deps.sparing("error", { fields: { err: error }, message });
      return LATER;
    }
    if (door.tries.wrong(key, query)) door.noteRefusal({ remoteAddress, who: null, reason: error.message });
    return NOT_SIGNED_IN;
  }
  const { person, wayBack } = signedIn;
  const who = person.email ?? `sub:${person.subject}`;
  const role = provider.roleOf(person);
  if (role === undefined) {
    door.noteRefusal({ remoteAddress, who, reason: "on neither list" });
    return NOT_LISTED;
  }
  const admitted = { who, role, begunWith: provider.fingerprint, by: "oidc" } as const;
  const session = await beginSession(request, reply, admitted, deps, door);
  return session === undefined ? LATER : goOn(wayBackOf(wayBack));
}

function show(reply: FastifyReply, { status, html }: Page): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(html);
}

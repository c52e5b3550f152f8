import { type Assembled, openEmbeddedAdmin } from "../app/index.ts";
import { createSparingLog, Opening } from "../domain/index.ts";
import { browserPage, PAGE_HEADERS } from "../oauth/index.ts";
import { normalAddress } from "../system/index.ts";

/** Reads everything; an operator also replays, discards and pauses. */
export type AdminRole = "operator" | "viewer";

/** @param name for the audit log and the page, such as a mail address; `application` when left out */
export type Admitted = AdminRole | { readonly role: AdminRole; readonly name?: string | null | undefined };

/** Says who may use the admin API and its page. */
export interface AdminOptions {
  /**
   * Called for every request to the page and to the API, before anything is served. Null refuses it with 403, and a throw
   * answers 500. It must not read the request's body.
   * @param native what the framework knows of the request: Node's request with `toAdminHandler`, so that an Express
   *   application reads `native.user`; otherwise what `admin.fetch` was given
   */
  authorize(request: Request, native?: unknown): Admitted | null | undefined | Promise<Admitted | null | undefined>;
}

export interface AdminRequestInfo {
  /** The path under which the page is, such as `/admin/webhooks`; the root of the server when left out. */
  readonly basePath?: string | undefined;
  /** For the audit log. */
  readonly clientAddress?: string | undefined;
  /** The second argument of `authorize`. */
  readonly native?: unknown;
}

export interface AdminFetch {
  fetch(request: Request, info?: AdminRequestInfo): Promise<Response>;
  /** Ends live streams, and waits for changes under way. */
  close(): Promise<void>;
}

const CLOSED =
  "the admin API of this receiver was requested and answered 404: createReceiver was given no admin.authorize, " +
  "which says who may use it";
const NO_ACCESS = "the application did not let this request in: sign in there with an account that may use this page";
const NO_ACCESS_TEXT =
  "The application did not let you in. Sign in there with an account that may use this page, then load it again.";
const FAILED = "whether this request is allowed could not be found out; the application's log says why";

/** The admin API and its page for an application. Nothing is served without `admin.authorize`. */
export function createAdminFetch(assembled: Assembled, admin: AdminOptions | undefined): AdminFetch {
  const { log, clock } = assembled.services.receiver;
  const sparing = createSparingLog(log, clock);
  const embedded = new Opening(() => openEmbeddedAdmin(assembled));
  let hasWarned = false;
  const reportFailure = (err: unknown) =>
    sparing("error", { fields: { err }, message: "admin.authorize failed, so an admin request was not served" });

  return {
    async fetch(request, { basePath: mount = "", clientAddress = "", native } = {}) {
      if (admin?.authorize === undefined) {
        if (!hasWarned) log.warn({}, CLOSED);
        hasWarned = true;
        return refusal(request, 404, "not found");
      }
      const basePath = parseBasePath(mount);
      const url = new URL(request.url);
      if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) {
        const fields = { path: url.pathname, basePath };
        const message = "an admin request lies outside basePath; give admin.fetch the path that it is mounted under";
        sparing("warn", { fields, message });
        return refusal(request, 404, "not found");
      }
      const ask = async () => parseAdmitted(await admin.authorize(request, native));
      let caller: Awaited<ReturnType<typeof ask>>;
      try {
        caller = await ask();
      } catch (error) {
        reportFailure(error);
        return refusal(request, 500, FAILED);
      }
      if (caller === null) return refusal(request, 403, NO_ACCESS);
      if (request.bodyUsed)
        return refusal(request, 500, "the request's body was read before, by authorize or a parser");
      const { answer } = await embedded.open();
      return answer(request, {
        ...{ basePath, caller },
        clientAddress: normalAddress(clientAddress),
        isStillAllowed: async () => {
          try {
            return (await ask()) !== null;
          } catch (error) {
            reportFailure(error);
            return false;
          }
        },
      });
    },
    async close() {
      await (await embedded.current)?.close();
    },
  };
}

/** The segments of a URL's path, which stand in attributes of the page. */
const BASE_PATH = /^(?:\/[\w.~!*()+,;:@%-]+)*$/;

function parseBasePath(basePath: string): string {
  const path = basePath.replace(/\/$/, "");
  if (BASE_PATH.test(path)) return path;
  const got = JSON.stringify(basePath);
  throw new TypeError(`basePath: got ${got}, expected the path under which the page is, such as "/admin/webhooks"`);
}

/** The name of a caller without one, in the audit log. */
const APPLICATION = "application";
const MAX_NAME = 256;

/** @throws TypeError for anything else than a role, a role with a name, or null */
function parseAdmitted(admitted: Admitted | null | undefined) {
  if (admitted === null || admitted === undefined) return null;
  const { role, name } = typeof admitted === "string" ? { role: admitted, name: undefined } : admitted;
  if (role !== "operator" && role !== "viewer") {
    const got = JSON.stringify(admitted);
    throw new TypeError(`admin.authorize: got ${got}, expected "operator", "viewer", { role, name } or null`);
  }
  return { role, actor: String(name ?? "").slice(0, MAX_NAME) || APPLICATION };
}

/** For a person who opens the page, and for a script. */
function refusal(request: Request, status: 403 | 404 | 500, error: string): Response {
  const wantsPage = status !== 404 && request.method === "GET" && request.headers.get("accept")?.includes("text/html");
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (wantsPage !== true) return Response.json({ error }, { status, headers });
  const [title, text] = status === 403 ? ["No access", NO_ACCESS_TEXT] : ["Not right now", `${FAILED}.`];
  return new Response(browserPage(title, text), { status, headers: { ...headers, ...PAGE_HEADERS } });
}

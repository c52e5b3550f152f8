import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Asset, type Dashboard, readDashboard } from "./dashboard-files.ts";

/** The same from the source and from the package. */
const BUILT = new URL("../../dashboard/dist/", import.meta.url);
const ASSET = "/assets/:file";
/** Every address that the page gives itself; any other one stays what it is, so that a misspelt one of the API is a 404. */
const PAGES = [
  "/",
  "/callbacks",
  "/callbacks/:id",
  "/events/:source/:event_id",
  "/refused",
  "/failures",
  "/bulk-replays",
  "/notifications",
  "/sources",
  "/sandbox",
  "/audit",
  "/api",
  "/sign-in",
];
/** They are no part of the admin API, and for everybody. */
const NOT_OURS = { schema: { hide: true, guard: { isOpen: true } } };
const ABSENT =
  "The dashboard is not built here. In the project's folder, this does: npm run build:dashboard\n";

/** The dashboard. @param folder what `npm run build:dashboard` writes; read when somebody asks for the page */
export function registerDashboard(app: FastifyInstance, folder: URL = BUILT): void {
  let reading: Promise<Dashboard | undefined> | undefined;
  const dashboard = async () => {
    reading ??= readDashboard(folder);
    const read = await reading.catch(forget);
    // Built since, it is served without a restart.
    if (read === undefined) reading = undefined;
    return read;
  };
  const forget = (error: unknown) => {
    reading = undefined;
    throw error;
  };
  for (const url of PAGES) {
    app.get(url, NOT_OURS, async (_request, reply) => {
      const page = await dashboard();
      if (page === undefined) return reply.code(503).type("text/plain; charset=utf-8").send(ABSENT);
      return sendPage(reply, page.html);
    });
  }
  app.get<{ Params: { file: string } }>(ASSET, NOT_OURS, async ({ params, headers }, reply) => {
    const asset = (await dashboard())?.assets.get(params.file);
    if (asset === undefined) return reply.code(404).send({ error: "not found" });
    return sendAsset(reply, asset, headers["accept-encoding"]);
  });
}

/**
 * The components write a few style elements of their own, which is why an answer has a nonce, for styles alone; scripts come
 * from our files, and nothing from another host.
 */
function sendPage(reply: FastifyReply, html: string): FastifyReply {
  const nonce = randomBytes(16).toString("base64url");
  const policy =
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
  return reply
    .headers({
      "cache-control": "no-cache",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
    })
    .type("text/html; charset=utf-8")
    .send(html.replaceAll("CSP_NONCE", nonce));
}

function sendAsset(reply: FastifyReply, asset: Asset, accepted = ""): FastifyReply {
  const takes = accepted
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
    .map((part) => part.split(";", 1)[0]);
  const found = asset.compressed.find(([encoding]) => takes.includes(encoding));
  if (found !== undefined) reply.header("content-encoding", found[0]);
  return reply
    .headers({ "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" })
    .type(asset.type)
    .send(found?.[1] ?? asset.plain);
}

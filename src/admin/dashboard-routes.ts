import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { packageFile } from "../system/index.ts";
import { isWrongPage } from "./access/guard.ts";
import { HIDDEN_ROUTE } from "./operation.ts";

const BUILT = packageFile("dashboard/dist/");
const ASSET = "/assets/:file";
/** Every address of the page. At any other one a browser gets the page with 404, and a script JSON. */
const PAGES = [
  "/",
  "/activity",
  "/problems",
  "/problems/:id",
  "/problems/replays/:id",
  "/problems/backfills/:id",
  "/callbacks",
  "/callbacks/:id",
  "/events/:source/:event_id",
  "/refused",
  "/failures",
  "/bulk-replays",
  "/notifications",
  "/sources",
  "/sources/:source",
  "/settings",
  "/settings/checks",
  "/settings/storage",
  "/settings/background",
  "/settings/alerts",
  "/settings/audit",
  "/audit",
];

/** How the page is served. */
export interface PageSettings {
  /** Who admits people: the receiver's sign-in, or the application around it. */
  readonly access: "sign-in" | "application";
  /** Other addresses of the page. */
  readonly pages: readonly string[];
  /** Under which path of its server the page is: nothing, or such as `/admin/webhooks`. */
  readonly basePathOf: (request: FastifyRequest) => string;
  /** The response where the built page is missing. */
  readonly notBuilt: string;
}

export const SERVER_PAGE: PageSettings = {
  access: "sign-in",
  pages: ["/sandbox", "/sign-in"],
  basePathOf: () => "",
  notBuilt: "The dashboard is not built here. In the project's folder, this does: npm run build:dashboard\n",
};

/** The dashboard. @param folder what `npm run build:dashboard` writes; read on the first request */
export function registerDashboard(app: FastifyInstance, settings: PageSettings, folder: URL = BUILT): void {
  let reading: ReturnType<typeof readDashboard> | undefined;
  const dashboard = async () => {
    reading ??= readDashboard(folder);
    try {
      return await reading;
    } catch (error) {
      // Built since, it is served without a restart.
      reading = undefined;
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };
  const servePage = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = await dashboard();
    if (page === undefined) return reply.code(503).type("text/plain; charset=utf-8").send(settings.notBuilt);
    return sendPage(reply, pageAt(page.html, settings.basePathOf(request), settings.access));
  };
  for (const url of [...PAGES, ...settings.pages]) app.get(url, HIDDEN_ROUTE, servePage);
  app.setNotFoundHandler((request, reply) => {
    reply.code(404);
    return isWrongPage(request) ? servePage(request, reply) : reply.send({ error: "not found" });
  });
  app.get<{ Params: { file: string } }>(ASSET, HIDDEN_ROUTE, async ({ params, headers }, reply) => {
    const asset = (await dashboard())?.assets.get(params.file);
    if (asset === undefined) return reply.code(404).send({ error: "not found" });
    return sendAsset(reply, asset, headers["accept-encoding"]);
  });
}

/**
 * The built page names its files relative to itself. At an address such as `/events/stripe/evt_1` they
 * are elsewhere. A `base` element would redirect links within the page, and need a weaker policy.
 */
function pageAt(html: string, basePath: string, access: PageSettings["access"]): string {
  return html
    .replaceAll('="./assets/', () => `="${basePath}/assets/`)
    .replaceAll("PAGE_BASE_PATH", () => basePath)
    .replaceAll("PAGE_ACCESS", access);
}

/**
 * The components write a few style elements, so that a response has a nonce, only for styles. Scripts come from our files,
 * and nothing from another host.
 */
function sendPage(reply: FastifyReply, html: string): FastifyReply {
  const nonce = randomBytes(16).toString("base64url");
  const policy =
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
  const headers = { "cache-control": "no-cache", "referrer-policy": "no-referrer" };
  return reply
    .headers({ ...headers, "content-security-policy": policy })
    .type("text/html; charset=utf-8")
    .send(html.replaceAll("CSP_NONCE", nonce));
}

function sendAsset(reply: FastifyReply, asset: Asset, accepted = ""): FastifyReply {
  const takes = accepted
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
    .map((part) => part.split(";", 1)[0]);
  const [encoding, bytes] = asset.compressed.find(([name]) => takes.includes(name)) ?? [];
  if (encoding !== undefined) reply.header("content-encoding", encoding);
  return reply
    .headers({ "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" })
    .type(asset.type)
    .send(bytes ?? asset.plain);
}

const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;
const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** Made when the page was built. */
  readonly compressed: readonly (readonly [encoding: string, bytes: Buffer])[];
}

/**
 * Reads the built page, about 3 MB, so that no response reads a file again.
 * @returns `html` with CSP_NONCE for each nonce, and the assets by name @throws ENOENT where it is not built
 */
async function readDashboard(folder: URL) {
  const html = await readFile(new URL("index.html", folder), "utf8");
  const names = await readdir(new URL("assets/", folder));
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const read = (ending: string) => readFile(new URL(`assets/${name}${ending}`, folder));
    const compressed = ENCODINGS.filter(([, ending]) => names.includes(name + ending)).map(
      async ([encoding, ending]) => [encoding, await read(ending)] as const,
    );
    assets.set(name, { type, plain: await read(""), compressed: await Promise.all(compressed) });
  }
  return { html, assets };
}

import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply } from "fastify";

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
/** They are no part of the admin API, and need no sign-in. */
const PUBLIC_PAGE = { schema: { hide: true, guard: { isPublic: true } } };
const NOT_BUILT =
  "The dashboard is not built here. In the project's folder, this does: npm run build:dashboard\n";

/** The dashboard. @param folder what `npm run build:dashboard` writes; read on the first request */
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
    app.get(url, PUBLIC_PAGE, async (_request, reply) => {
      const page = await dashboard();
      if (page === undefined) return reply.code(503).type("text/plain; charset=utf-8").send(NOT_BUILT);
      return sendPage(reply, page.html);
    });
  }
  app.get<{ Params: { file: string } }>(ASSET, PUBLIC_PAGE, async ({ params, headers }, reply) => {
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

const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: readonly (readonly [encoding: string, bytes: Buffer])[];
}

interface Dashboard {
  /** With CSP_NONCE wherever an answer has its nonce. */
  readonly html: string;
  /** By their names, which change with what they hold. */
  readonly assets: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Reads the built page; undefined where there is none. About 3 MB, so that no answer reads a file again. */
async function readDashboard(folder: URL): Promise<Dashboard | undefined> {
  const html = await readFile(new URL("index.html", folder), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (html === undefined) return undefined;
  const assets = new URL("assets/", folder);
  const names = new Set(await readdir(assets));
  const originals = [...names].filter((name) => typeOf(name) !== undefined);
  const read = originals.map(async (name) => [name, await readAsset(name, names, assets)] as const);
  return { html, assets: new Map(await Promise.all(read)) };
}

async function readAsset(name: string, names: ReadonlySet<string>, folder: URL): Promise<Asset> {
  const read = (ending: string) => readFile(new URL(name + ending, folder));
  const there = ENCODINGS.filter(([, ending]) => names.has(name + ending));
  const compressed = there.map(async ([encoding, ending]) => [encoding, await read(ending)] as const);
  return { type: typeOf(name) ?? "", plain: await read(""), compressed: await Promise.all(compressed) };
}

function typeOf(name: string): string | undefined {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)];
}

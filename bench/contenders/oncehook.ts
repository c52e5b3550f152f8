import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { SECRET } from "../load/event-file.ts";
import { type ServerProcess, startServer } from "../machine/server-process.ts";
import { type Contender, type Place, serving } from "./contender.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONFIGS = {
  slow: new URL("../servers/slow-prepare/oncehook.config.ts", import.meta.url),
  identity: new URL("../servers/identity/oncehook.config.ts", import.meta.url),
  dependent: new URL("../servers/dependent/oncehook.config.ts", import.meta.url),
  "dependent-alone": new URL("../servers/dependent-alone/oncehook.config.ts", import.meta.url),
};
const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** The file in which a round's events are kept, for what looks into it besides the server. */
export const databaseFile = (folder: string): string => join(folder, "oncehook.db");

/** The options that `npm start` gives to Node: those of V8, and the condition that finds sources. */
const START_OPTIONS: readonly string[] = MANIFEST.scripts.start.match(/--\S+/g) ?? [];
const isOfSources = (option: string) => option.startsWith("--conditions");

interface Command {
  readonly options: readonly string[];
  readonly main: string;
  readonly config?: string;
}

/** What `npm start` runs in a clone. */
const fromSources: Command = { options: START_OPTIONS, main: join(ROOT, "src/cli/main.js") };

export const oncehookSqlite = oncehook({
  name: "oncehook-sqlite",
  title: "Oncehook on SQLite",
  store: "sqlite",
  command: async () => fromSources,
});
export const oncehookPostgres = oncehook({
  name: "oncehook-postgres",
  title: "Oncehook on PostgreSQL",
  store: "postgres",
  command: async () => fromSources,
});
/** What an installed package runs: the case `startup` compares it, since the code it serves with is the same. */
export const oncehookPackage = oncehook({
  name: "oncehook-package",
  title: "the packed Oncehook on SQLite",
  store: "sqlite",
  command: packedCommand,
});

/** A source of one's own, whose id stands in the body that is signed, or in a header beside it. */
export const [oncehookSignedId, oncehookUnsignedId] = (["signed", "unsigned"] as const).map((id) =>
  oncehook({
    name: `oncehook-${id}-id`,
    title: `Oncehook on SQLite, a source whose id is ${id}`,
    store: "sqlite",
    command: async () => ({ ...fromSources, config: fileURLToPath(CONFIGS.identity) }),
    isIdempotent: true,
    path: `/api/${id}/callback`,
  }),
) as [Contender, Contender];

/** A handler that reads before it writes: in sequential groups, or each event in its own transaction. */
export const [oncehookDependent, oncehookDependentAlone] = (["dependent", "dependent-alone"] as const).map((server) =>
  oncehook({
    name: `oncehook-${server}`,
    title: `Oncehook on PostgreSQL, ${server === "dependent" ? "in groups" : "each event in its own transaction"}`,
    store: "postgres",
    command: async () => ({ ...fromSources, config: fileURLToPath(CONFIGS[server]) }),
  }),
) as [Contender, Contender];

interface Parts extends Pick<Contender, "name" | "title" | "store"> {
  readonly command: () => Promise<Command>;
  readonly isIdempotent?: boolean;
  readonly path?: string;
}

/** The product with every default, but for the limits on how often one address may call. */
function oncehook({ path = "/api/platform/callback", isIdempotent = false, ...parts }: Parts): Contender {
  const { name, title, store, command } = parts;
  return {
    name,
    title,
    store,
    isIdempotent,
    async version() {
      await command();
      return `Oncehook ${MANIFEST.version}, Node ${process.version}`;
    },
    async start(place) {
      const servers: ServerProcess[] = [];
      const urls: string[] = [];
      try {
        // One after the other: the first one applies the migrations.
        for (let at = 0; at < place.processes; at += 1) {
          const port = await freePort();
          servers.push(await startOne(await command(), place, store, port));
          urls.push(`http://127.0.0.1:${port}${path}`);
        }
      } catch (error) {
        await serving(servers, urls).stop();
        throw error;
      }
      return serving(servers, urls);
    },
  };
}

async function startOne(
  { options, main, config: usual }: Command,
  place: Place,
  store: Contender["store"],
  port: number,
): Promise<ServerProcess> {
  const config = place.isSlow ? fileURLToPath(CONFIGS.slow) : usual;
  const adminPort = await freePort();
  const { POOL_SIZE, MAX_WAITING_CALLBACKS } = process.env;
  return startServer({
    command: process.execPath,
    args: [...options, ...place.nodeOptions, main, "serve", ...(config === undefined ? [] : ["--config", config])],
    env: {
      APP_ENV: "test",
      SIGNING_SECRET: SECRET,
      ADMIN_TOKEN: "the-administrator-of-the-benchmark",
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DATABASE_URL: store === "sqlite" ? `sqlite:${databaseFile(place.folder)}` : place.databaseUrl,
      RATE_LIMIT_DEFAULT: "off",
      RATE_LIMIT_CALLBACK: "off",
      ...sourceVariables(place.sources),
      ...(POOL_SIZE === undefined ? {} : { POOL_SIZE }),
      ...(MAX_WAITING_CALLBACKS === undefined ? {} : { MAX_WAITING_CALLBACKS }),
    },
    folder: place.folder,
    port,
    isReady: () =>
      fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
  });
}

/** Of platforms with a signature like the specification's: HMAC over the body or over a template. */
const PRESETS = ["github", "gitlab", "line", "linear", "paddle", "razorpay", "shopify", "slack", "zoom"];

/** The specification's platform and the first presets, with nothing but secrets. */
function sourceVariables(sources: number): Record<string, string> {
  const names = PRESETS.slice(0, sources - 1);
  if (names.length === 0) return {};
  const secrets = names.map((name) => [`${name.toUpperCase()}_SECRET`, `${SECRET}-${name}`]);
  return { SOURCES: names.join(","), ...Object.fromEntries(secrets) };
}

let packed: Promise<Command> | undefined;

/** Bundles the package once a run, into a project of its own among the installed dependencies. */
function packedCommand(): Promise<Command> {
  packed ??= pack();
  return packed;
}

async function pack(): Promise<Command> {
  const project = mkdtempSync(join(tmpdir(), "oncehook-packed-"));
  process.on("exit", () => rmSync(project, { recursive: true, force: true }));
  const modules = join(project, "node_modules");
  const folder = join(modules, "oncehook");
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== "oncehook") symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  const config = ["--config", "scripts/bundle.config.ts", "--logLevel", "warn"];
  const vite = [join(ROOT, "node_modules/vite/bin/vite.js"), "build", ...config, "--outDir", join(folder, "dist")];
  await promisify(execFile)(process.execPath, [...vite, "--emptyOutDir"], { cwd: ROOT });
  const command = {
    options: START_OPTIONS.filter((option) => !isOfSources(option)),
    main: join(folder, "dist/cli/main.js"),
  };
  await fillCompileCache(command, project);
  return command;
}

/** Node stores its compiled code as it ends: the first start of an installation is slower than all others. */
async function fillCompileCache(command: Command, folder: string): Promise<void> {
  const place = { folder, databaseUrl: "", processes: 1, sources: 1, isSlow: false, nodeOptions: [] };
  const server = await startOne(command, place, "sqlite", await freePort());
  await server.stop();
}

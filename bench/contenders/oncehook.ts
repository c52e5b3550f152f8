import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.ts";
import { SECRET } from "../load/event-file.ts";
import { type ServerProcess, startServer } from "../machine/server-process.ts";
import { type Contender, type Place, serving } from "./contender.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONFIG = fileURLToPath(new URL("../servers/slow-prepare/oncehook.config.ts", import.meta.url));

export const oncehookSqlite = oncehook("oncehook-sqlite", "Oncehook on SQLite", "sqlite");
export const oncehookPostgres = oncehook("oncehook-postgres", "Oncehook on PostgreSQL", "postgres");

/** The file in which a round's events are kept, for what looks into it besides the server. */
export const databaseFile = (folder: string): string => join(folder, "oncehook.db");

/** The product as `npm start` runs it: every default, but for the limits on how often one address may call. */
function oncehook(name: string, title: string, store: "sqlite" | "postgres"): Contender {
  return {
    name,
    title,
    store,
    isIdempotent: false,
    async version() {
      const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
      return `Oncehook ${version}, Node ${process.version}`;
    },
    async start(place) {
      const servers: ServerProcess[] = [];
      const urls: string[] = [];
      try {
        // One after the other: the first one applies the migrations.
        for (let at = 0; at < place.processes; at += 1) {
          const port = await freePort();
          servers.push(await startOne(place, store, port));
          urls.push(`http://127.0.0.1:${port}/api/platform/callback`);
        }
      } catch (error) {
        await serving(servers, urls).stop();
        throw error;
      }
      return serving(servers, urls);
    },
  };
}

/** The options that `npm start` gives to Node. */
function startOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return scripts.start.match(/--\S+/g) ?? [];
}

async function startOne(place: Place, store: "sqlite" | "postgres", port: number): Promise<ServerProcess> {
  const adminPort = await freePort();
  const { POOL_SIZE, MAX_WAITING_CALLBACKS } = process.env;
  return startServer({
    command: process.execPath,
    args: [
      ...startOptions(),
      join(ROOT, "src/cli/main.js"),
      "serve",
      ...(place.isSlow ? ["--config", CONFIG] : []),
    ],
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

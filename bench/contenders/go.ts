import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../test/support/free-port.ts";
import { SECRET } from "../load/event-file.ts";
import { withClient } from "../machine/postgres.ts";
import { startServer } from "../machine/server-process.ts";
import { schemaFor } from "../servers/schema.ts";
import {
  COLUMNS,
  insertCallback,
  insertNotification,
  insertRecord,
  parameters,
  upsertOrder,
} from "../servers/statements.ts";
import { type Contender, type Place, POOL_SIZE, serving, waitVariable } from "./contender.ts";

const SOURCES = fileURLToPath(new URL("../servers/go/", import.meta.url));
const BUILT = fileURLToPath(new URL("../results/go-receiver", import.meta.url));
/** Debian puts the sources of its Go packages there. */
const DEBIAN_PACKAGES = "/usr/share/gocode";
const PACKAGES = ["golang-go", "golang-github-jackc-pgx-v4-dev", "golang-github-mattn-go-sqlite3-dev"];

const run = promisify(execFile);
let built: Promise<string> | undefined;

export const goSqlite = contender("go-sqlite", "Go net/http + go-sqlite3", "sqlite");
export const goPostgres = contender("go-postgres", "Go net/http + pgx", "postgres");

/** A receiver that a careful team writes by hand in Go; see bench/servers/go/. */
function contender(name: string, title: string, store: "sqlite" | "postgres"): Contender {
  return {
    name,
    title,
    store,
    isIdempotent: false,
    version() {
      built ??= build();
      return built;
    },
    async start(place) {
      const port = await freePort();
      const server = await startServer({
        command: BUILT,
        args: [],
        env: {
          PORT: String(port),
          SIGNING_SECRET: SECRET,
          ...(await databaseVariables(place, store)),
          ...waitVariable(place),
        },
        folder: place.folder,
        port,
      });
      return serving([server], [`http://127.0.0.1:${port}/api/platform/callback`]);
    },
  };
}

/** Builds once a run. @returns the versions. @throws Error with the packages to install */
async function build(): Promise<string> {
  const GOPATH = [process.env.GOPATH, DEBIAN_PACKAGES].filter(Boolean).join(":");
  const env = { ...process.env, GO111MODULE: "off", CGO_ENABLED: "1", GOPATH };
  mkdirSync(join(BUILT, ".."), { recursive: true });
  try {
    await run("go", ["build", "-o", BUILT, "."], { cwd: SOURCES, env });
    const { stdout } = await run("go", ["version"]);
    return [/go\d\S*/.exec(stdout)?.[0], ...(await packageVersions())].join(", ");
  } catch (cause) {
    throw new Error(`${reasonOf(cause)}; on Debian: apt-get install ${PACKAGES.join(" ")}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  const { code, stderr = "" } = cause as { code?: unknown; stderr?: string };
  if (code === "ENOENT") return "there is no Go";
  const line = stderr.split("\n").find((text) => text.trim() !== "" && !text.startsWith("#"));
  return `go build failed: ${line ?? String(cause)}`;
}

/** Of Debian's packages; elsewhere none are known. */
async function packageVersions(): Promise<string[]> {
  const listed = await run("dpkg-query", ["-W", ...PACKAGES.slice(1), "libsqlite3-0"]).catch(() => null);
  return listed?.stdout.trim().replaceAll("\t", " ").split("\n") ?? [];
}

/** Its tables are made here, and its statements handed over, so that they are the other contenders' own. */
async function databaseVariables(
  { folder, databaseUrl }: Place,
  store: "sqlite" | "postgres",
): Promise<Record<string, string>> {
  const style = store === "sqlite" ? "?" : "$";
  const statements = {
    record: insertRecord(parameters(COLUMNS.record, style)),
    order: upsertOrder(parameters(COLUMNS.order, style)),
    notification: insertNotification(parameters(COLUMNS.notification, style)),
    callback: insertCallback(parameters(COLUMNS.callback, style)),
  };
  const given = { BENCH_STATEMENTS: JSON.stringify(statements) };
  if (store === "postgres") {
    await withClient(databaseUrl, async (client) => {
      for (const statement of schemaFor("postgres")) await client.query(statement);
    });
    return { ...given, DATABASE_URL: databaseUrl, BENCH_POOL_SIZE: POOL_SIZE };
  }
  const file = join(folder, "events.db");
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL");
  for (const statement of schemaFor("sqlite")) database.exec(statement);
  database.close();
  return { ...given, DATABASE_FILE: file };
}

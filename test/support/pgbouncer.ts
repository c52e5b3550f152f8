import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onThePath } from "../deploy/on-the-path.ts";
import { startProxy } from "../deploy/proxy-process.ts";
import { freePort } from "./free-port.ts";

export const PGBOUNCER = onThePath("pgbouncer");

/**
 * Lends a real PgBouncer in transaction mode before the server of an address, with fewer connections than its clients.
 * @param more further lines of its configuration
 */
export async function withPgbouncer(
  direct: string,
  use: (url: string) => Promise<void>,
  more: readonly string[] = [],
): Promise<void> {
  const [folder, port] = [await mkdtemp(join(tmpdir(), "oncehook-pgbouncer-")), await freePort()];
  const { hostname, port: serverPort, username, password } = new URL(direct);
  const ini = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${serverPort} user=${username} password=${password}`,
    "[pgbouncer]",
    ...[`listen_addr = 127.0.0.1`, `listen_port = ${port}`, "unix_socket_dir =", "auth_type = any"],
    ...["pool_mode = transaction", "default_pool_size = 6", "max_client_conn = 200", ...more, ""],
  ];
  // It refuses to run as root, and reads its file as the other user.
  await chmod(folder, 0o755);
  await writeFile(ini, lines.join("\n"));
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const pooler = await startProxy(PGBOUNCER ?? "pgbouncer", [...user, ini], port);
  const through = new URL(direct);
  through.port = String(port);
  try {
    await use(through.href);
  } finally {
    await pooler.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

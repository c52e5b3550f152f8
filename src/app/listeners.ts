import type { AddressInfo } from "node:net";
import { type AdminAccess, createAdminListener, createTokenCheck, type TokenCheck } from "../admin/index.ts";
import { type Config, ConfigError } from "../config/index.ts";
import { StartError } from "../configured/index.ts";
import { type Listener, readTlsPair, type TlsPair, TlsUnusable } from "../http/index.ts";
import { adminAccess, createAdminConnections } from "./admin-access.ts";
import { adminParts } from "./admin-parts.ts";
import type { Assembled } from "./assemble.ts";
import { publicListener } from "./public-listener.ts";
import { createSandbox } from "./sandbox.ts";
import type { UndoSteps } from "./undo-steps.ts";

/**
 * Opens the admin listener, then the public one. When they close, the rounds under way end in between: after the last
 * callback, while probes and metrics still answer.
 * @throws StartError that names the variables of an address that cannot be listened on
 */
export async function listen(assembled: Assembled, tls: TlsPair | null, undo: UndoSteps) {
  const { config, origins, background, services } = assembled;
  const { receiver } = services;
  const access = adminAccess(config, receiver.encryptor, receiver.clock);
  const tokenCheck = createTokenCheck({ access, ...receiver });
  /** For the probes of the admin listener: whether callbacks are served. */
  const health = { isServing: false };
  await openAdmin(assembled, { access, tokenCheck, isServing: () => health.isServing }, undo);
  undo.add("background work", background.stop);
  const listener = publicListener(assembled, tls, tokenCheck);
  undo.add("public listener", () => closeListener(listener));
  await listenOn(listener, config.listen, "");
  origins.public = originOf(listener, tls === null ? "http" : "https");
  return { server: listener.server, health };
}

interface AdminParts {
  readonly access: AdminAccess;
  readonly tokenCheck: TokenCheck;
  readonly isServing: () => boolean;
}

async function openAdmin(assembled: Assembled, parts: AdminParts, undo: UndoSteps): Promise<void> {
  const { config, services, origins } = assembled;
  const connections = createAdminConnections(services.receiver.log);
  undo.add("admin connections", connections.close);
  const admin = createAdminListener({
    ...(await adminParts(assembled)),
    ...{ ...parts, guard: connections.guard },
    sandbox: createSandbox(assembled),
  });
  undo.add("admin listener", () => closeListener({ server: admin.server, close: () => admin.close() }));
  await listenOn(admin, config.admin, "ADMIN_");
  origins.admin = originOf(admin, "http");
}

/** Listens. @param prefix of the variables that say where, `ADMIN_` or none @throws StartError that names them */
async function listenOn(
  listener: Pick<Listener, "listen">,
  { host, port }: Config["admin"] | Config["listen"],
  prefix: "" | "ADMIN_",
): Promise<void> {
  try {
    await listener.listen({ host, port });
  } catch (cause) {
    throw new StartError(listenErrorMessage(cause, host, port, prefix), { cause });
  }
}

function listenErrorMessage(cause: unknown, host: string, port: number, prefix: string): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  switch (code) {
    case "EADDRINUSE":
      return (
        `${prefix}PORT: port ${port} on ${host} is in use. Stop the process that listens there (this receiver, started ` +
        `before?), or set ${prefix}PORT to a free port`
      );
    case "EACCES":
      return (
        `${prefix}PORT: this user may not listen on port ${port}. Set ${prefix}PORT to 1024 or above, and let a proxy ` +
        "or the system's own means forward the other"
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${prefix}HOST: got ${JSON.stringify(host)}, which is no address of this machine; set ${prefix}HOST to one that is`;
    default:
      return `${prefix}HOST, ${prefix}PORT: cannot listen on port ${port} of ${host}: ${message}`;
  }
}

/** A listener's address from this machine; an unspecified address stands for the loopback one. */
function originOf({ server }: Pick<Listener, "server">, protocol: "http" | "https"): string {
  const { address, port } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `${protocol}://127.0.0.1:${port}`;
  if (address === "::") return `${protocol}://[::1]:${port}`;
  return `${protocol}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The configured certificate and key, null without. @throws ConfigError that names the file that is wrong */
export async function tlsPair({ listen }: Config): Promise<TlsPair | null> {
  if (listen.tls === undefined) return null;
  try {
    return await readTlsPair(listen.tls);
  } catch (error) {
    throw error instanceof TlsUnusable ? new ConfigError([error.message]) : error;
  }
}

const CHECK_EVERY_MS = 50;

/**
 * Accepts nothing new and waits for requests under way. A connection that was busy when the closing began turns idle
 * later. It would stay open for a next request that never comes.
 */
async function closeListener({ server, close }: Pick<Listener, "server" | "close">): Promise<void> {
  const timer = setInterval(() => server.closeIdleConnections(), CHECK_EVERY_MS);
  try {
    await close();
  } finally {
    clearInterval(timer);
  }
}

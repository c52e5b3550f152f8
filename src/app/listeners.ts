import type { AddressInfo } from "node:net";
import { type Config, ConfigError } from "../config/index.ts";
import { StartError } from "../configured/index.ts";
import { type Listener, readTlsPair, type TlsPair, TlsUnusable } from "../http/index.ts";

/** Listens. @param prefix of the variables that say where, `ADMIN_` or none @throws StartError that names them */
export async function listen(
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

/** Where a listener can be reached from this machine; an unspecified address stands for the loopback one. */
export function originOf({ server }: Pick<Listener, "server">, protocol: "http" | "https"): string {
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

export type UndoStep = () => Promise<void>;

/** Undoes the steps of a start, the last one first; one that fails does not keep the others from it. */
export async function stopAll(steps: UndoStep[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps.splice(0).reverse()) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "some parts did not stop cleanly");
}

const CHECK_EVERY_MS = 50;

/**
 * Accepts nothing new and waits for what is under way. A connection that was busy when the closing began turns
 * idle later, and would be kept open for the next request of a client that never comes.
 */
export async function closeListener({ server, close }: Pick<Listener, "server" | "close">): Promise<void> {
  const timer = setInterval(() => server.closeIdleConnections(), CHECK_EVERY_MS);
  try {
    await close();
  } finally {
    clearInterval(timer);
  }
}

import type { Listener } from "../http/index.ts";
import { StartRefused } from "./start-refused.ts";

interface Where {
  readonly host: string;
  readonly port: number;
}

/** Listens. @param prefix of the variables that say where, `ADMIN_` or none @throws StartRefused that names them */
export async function listen(
  listener: Pick<Listener, "listen">,
  { host, port }: Where,
  prefix: "" | "ADMIN_",
): Promise<void> {
  try {
    await listener.listen({ host, port });
  } catch (cause) {
    throw new StartRefused(words(cause, { host, port }, prefix), { cause });
  }
}

function words(cause: unknown, { host, port }: Where, prefix: string): string {
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

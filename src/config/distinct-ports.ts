import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** Two listeners cannot share a port of one address, nor of all addresses and one of them. */
export function checkPorts(
  listen: Config["listen"],
  admin: Pick<Config["admin"], "host" | "port">,
  problems: Problems,
): void {
  if (listen.port !== admin.port || listen.port === 0) return;
  const apart =
    listen.host !== admin.host && ![listen.host, admin.host].some((host) => EVERY_ADDRESS.includes(host));
  if (apart) return;
  const says = `got ${admin.port}, expected another port than PORT: the two listeners need one each`;
  problems.add(["ADMIN_PORT"], says, ["PORT"]);
}

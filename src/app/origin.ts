import type { AddressInfo } from "node:net";
import type { Listener } from "../http/index.ts";

/** Where a listener can be reached from this machine; an unspecified address stands for the loopback one. */
export function originOf({ server }: Pick<Listener, "server">, protocol: "http" | "https"): string {
  const { address, port } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `${protocol}://127.0.0.1:${port}`;
  if (address === "::") return `${protocol}://[::1]:${port}`;
  return `${protocol}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

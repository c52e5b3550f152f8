import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

/** Where a listener can be reached from this machine; an unspecified address stands for the loopback one. */
export function originOf(app: FastifyInstance, protocol: "http" | "https"): string {
  const { address, port } = app.server.address() as AddressInfo;
  if (address === "0.0.0.0") return `${protocol}://127.0.0.1:${port}`;
  if (address === "::") return `${protocol}://[::1]:${port}`;
  return `${protocol}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

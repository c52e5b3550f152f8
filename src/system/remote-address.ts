import { BlockList, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { remembered } from "../domain/index.ts";

/** Some proxies write the port too: `192.0.2.1:4000`, `[2001:db8::1]:4000`, or only the brackets. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>\d+\.\d+\.\d+\.\d+):\d+)$/;

/** A platform calls from a handful of addresses, and other clients' must not pile up here. */
const MAX_REMEMBERED = 1_000;

/** The address in its shortest form, IPv4-mapped ones unmapped, so that one host has one name. */
export const normalAddress = remembered((written) => {
  const { v4, v6 } = WITH_PORT.exec(written)?.groups ?? {};
  const address = v4 ?? v6 ?? written;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}, MAX_REMEMBERED);

/**
 * The key of limits by address: an IPv4 address, or the /64 of an IPv6 one. One host may have a whole /64.
 * @param address as `normalAddress` returns it
 */
export function rateKey(address: string): string {
  if (!address.includes(":") || !isIPv6(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(":")}::/64`;
}

/** Tells whether an address lies in one of the CIDRs; null allows every address. */
export function createAllowList(cidrs: readonly string[] | null): (address: string) => boolean {
  if (cidrs === null) return () => true;
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", bits] = cidr.split("/");
    const family = isIPv6(network) ? "ipv6" : "ipv4";
    list.addSubnet(network, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return (address) => ipaddr.isValid(address) && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

import { type LookupAddress, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { createAllowList } from "../system/index.ts";

function addressNotAllowed(host: string, addresses: readonly LookupAddress[]): Error {
  const resolved = addresses.map(({ address }) => address).filter((address) => address !== host);
  return new Error(
    `${host}${resolved.length === 0 ? "" : ` (${resolved.join(", ")})`} is not a public address; where that is meant, name ` +
      "its network in NOTIFY_ALLOW_ADDRESSES",
  );
}

const [GLOBAL_UNICAST, GLOBAL_UNICAST_BITS] = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * RFC 4291 §2.4, §2.5.5.1: of IPv6 only 2000::/3 is handed out. Other ranges carry IPv4 addresses in forms that no table
 * of ranges names, such as `::a.b.c.d`.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}

export type AllowedAddresses = ReturnType<typeof createAllowedAddresses>;

/**
 * The addresses that notifications may go to: public ones and the named networks. No loopback, private, link-local,
 * multicast or translated address (SSRF). The check and the connection use one look-up.
 * @param networks CIDRs
 */
export function createAllowedAddresses(networks: readonly string[]) {
  const isNamed = createAllowList(networks);
  const isAllowed = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return isPublic(parsed) || isNamed(parsed.toString());
  };
  /** For `net.connect` and `tls.connect`: resolves a name to its allowed addresses. */
  const lookup: LookupFunction = (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return callback(addressNotAllowed(hostname, addresses), []);
      if (options.all === true) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
  return {
    lookup,
    /** An address in place of a name is never looked up. @throws Error where it is not allowed */
    assertHost(host: string): void {
      const address = host.replace(/^\[|\]$/g, "");
      if (ipaddr.isValid(address) && !isAllowed(address)) throw addressNotAllowed(address, []);
    },
  };
}

import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { BlockList, isIPv6, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

function addressNotAllowed(host: string, addresses: readonly string[]): Error {
  const found = addresses.filter((address) => address !== host);
  return new Error(
    `${host}${found.length === 0 ? "" : ` (${found.join(", ")})`} is not a public address; where that is meant, name ` +
      "its network in NOTIFY_ALLOW_ADDRESSES",
  );
}

const [GLOBAL_UNICAST, GLOBAL_UNICAST_BITS] = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * RFC 4291 §2.4, §2.5.5.1: of IPv6 only 2000::/3 is handed out. The rest holds forms that carry an IPv4 address, such as
 * `::a.b.c.d`, which a table of known ranges does not name.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}

export type AllowedAddresses = ReturnType<typeof createAllowedAddresses>;

/**
 * Where notifications may go: public addresses and the networks that are named, and nothing else. No loopback, private,
 * link-local, multicast or translated address (SSRF). The address that is checked is the one that is connected to.
 * @param networks CIDRs
 */
export function createAllowedAddresses(networks: readonly string[]) {
  const named = new BlockList();
  for (const cidr of networks) {
    const [network = "", bits] = cidr.split("/");
    const family = isIPv6(network) ? "ipv6" : "ipv4";
    named.addSubnet(network, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  const isAllowed = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return isPublic(parsed) || named.check(parsed.toString(), parsed.kind());
  };
  /** For `net.connect` and `tls.connect`: resolves a name and leaves out what is not allowed. */
  const lookup: LookupFunction = (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) {
        const addresses = found.map(({ address }) => address);
        return callback(addressNotAllowed(hostname, addresses), []);
      }
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

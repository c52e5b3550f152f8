import ipaddr from "ipaddr.js";

const LOCAL_NAME = /(^|\.)(localhost|local|internal|lan|home\.arpa)$/;

/** Whether a platform on the internet can reach a host of this name (SPEC 1.1). A name's addresses are not looked up. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === "unicast";
  return host.includes(".") && !LOCAL_NAME.test(host);
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(plain)) return ipaddr.process(plain).range() === "loopback";
  return plain === "localhost";
}

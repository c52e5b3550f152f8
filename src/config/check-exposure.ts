import ipaddr from "ipaddr.js";
import type { Problems } from "./problems.ts";
import { isLoopbackHost } from "./public-host.ts";
import type { Environment, Values } from "./read-variables.ts";
import { weakSecrets } from "./weak-secrets.ts";

/** What is wrong with a variable, in words that follow its name. */
interface Exposure {
  readonly name: string;
  readonly message: string;
  /** `warn`: production starts all the same. `ignore`: a development machine has it for good reasons. */
  readonly production?: "warn";
  readonly development?: "ignore";
}

/**
 * What leaves the receiver open: secrets that can be guessed, certificates that are not verified, networks that hold
 * everyone, plain HTTP. Production refuses it, development returns it as warnings; tests have constant secrets on purpose.
 */
export function checkExposure(values: Values, env: Environment, problems: Problems): string[] {
  if (values.APP_ENV === "test") return [];
  const concerns: Exposure[] = [
    ...weakSecretExposures(values),
    ...processExposures(env),
    ...networkExposures(values),
    ...plainHttpExposures(values),
  ];
  const isProduction = values.APP_ENV === "production";
  if (isProduction) {
    for (const { name, message, production } of concerns)
      if (production !== "warn") problems.add([name], `${message}. Production does not start with it`);
  }
  const warned = concerns.filter(({ production, development }) =>
    isProduction ? production === "warn" : development !== "ignore",
  );
  return warned.map(({ name, message }) => `${name}: ${message}`);
}

function weakSecretExposures(values: Values): Exposure[] {
  return weakSecrets(values).map(({ name, message, isPrevious }) =>
    isPrevious
      ? { name, message: `${message}; remove it once it is rotated out`, production: "warn" }
      : { name, message },
  );
}

/** What Node itself reads from the environment. */
function processExposures(env: Environment): Exposure[] {
  const concerns: Exposure[] = [];
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    const message =
      'got "0", expected it not to be set: it switches off the verification of every certificate. To trust an ' +
      "authority of your own, name its file in NODE_EXTRA_CA_CERTS";
    concerns.push({ name: "NODE_TLS_REJECT_UNAUTHORIZED", message });
  }
  if (/--insecure[-_]http[-_]parser/.test(env.NODE_OPTIONS ?? "")) {
    const message =
      "got --insecure-http-parser, expected it not to be set: it lets a request hide in another one";
    concerns.push({ name: "NODE_OPTIONS", message });
  }
  return concerns;
}

function networkExposures({ TRUST_PROXY, NOTIFY_ALLOW_ADDRESSES }: Values): Exposure[] {
  const concerns: Exposure[] = [];
  const proxies = largeAddressShare(TRUST_PROXY ?? []);
  if (proxies !== undefined) {
    const message =
      `got networks with ${proxies}, expected your proxies' own addresses: a trusted proxy chooses ` +
      "the address that limits and IP_ALLOW_LIST see, and passes plain HTTP for HTTPS";
    concerns.push({ name: "TRUST_PROXY", message });
  }
  const allowed = largeAddressShare(NOTIFY_ALLOW_ADDRESSES ?? []);
  if (allowed !== undefined) {
    const message =
      `got networks with ${allowed}, expected the private networks that the webhook's receiver and the mail ` +
      "server are in: public addresses need no entry, and this allows loopback and cloud metadata addresses";
    concerns.push({ name: "NOTIFY_ALLOW_ADDRESSES", message });
  }
  return concerns;
}

function plainHttpExposures(values: Values): Exposure[] {
  const { ADMIN_HOST: host, ADMIN_ALLOW_PLAIN_HTTP: isAllowed = false } = values;
  const concerns = oauthUrlExposures(values);
  if (host !== undefined && !isLoopbackHost(host) && !isAllowed) {
    const message =
      `got ${JSON.stringify(host)}, expected a loopback address: the admin listener speaks plain HTTP, and its token and ` +
      "sessions would cross the network in clear. Put a proxy with TLS on this machine, or, where nothing but that " +
      "proxy and the probes can reach the port (a container's own network), set ADMIN_ALLOW_PLAIN_HTTP=true";
    concerns.push({ name: "ADMIN_HOST", message });
  }
  return concerns;
}

/** Where browsers are sent with the code, and after it. */
function oauthUrlExposures(values: Values): Exposure[] {
  return (["OAUTH_REDIRECT_URI", "OAUTH_SUCCESS_URL"] as const).flatMap((name) => {
    const url = values[name];
    if (url === undefined || URL.parse(url)?.protocol === "https:") return [];
    return [
      { name, message: `got ${JSON.stringify(url)}, expected an https address`, development: "ignore" },
    ];
  });
}

/** Private networks are a hundredth of all addresses; the published lists of large providers are less than a twentieth. */
const LARGEST_PERCENT = 6n;
const IPV4_IN_IPV6 = 0xffff_0000_0000n;

type Interval = readonly [first: bigint, last: bigint];

/** How large a part of all addresses these networks hold together, in words; undefined for a small one. */
function largeAddressShare(cidrs: readonly string[]): string | undefined {
  const v4: Interval[] = [];
  const v6: Interval[] = [];
  for (const cidr of cidrs) {
    const { family, first, last } = intervalOf(cidr);
    if (family === "ipv4") v4.push([first, last]);
    else {
      v6.push([first, last]);
      // An IPv4 address also matches in its form inside IPv6 (RFC 4291 §2.5.5.2).
      const from = first > IPV4_IN_IPV6 ? first : IPV4_IN_IPV6;
      const to = last < IPV4_IN_IPV6 + 0xffff_ffffn ? last : IPV4_IN_IPV6 + 0xffff_ffffn;
      if (from <= to) v4.push([from - IPV4_IN_IPV6, to - IPV4_IN_IPV6]);
    }
  }
  const percent4 = (100n * sizeOf(v4)) / 2n ** 32n;
  if (percent4 >= LARGEST_PERCENT) return `${percent4} % of all IPv4 addresses`;
  const percent6 = (100n * sizeOf(v6)) / 2n ** 128n;
  return percent6 >= LARGEST_PERCENT ? `${percent6} % of all IPv6 addresses` : undefined;
}

function intervalOf(cidr: string): { family: "ipv4" | "ipv6"; first: bigint; last: bigint } {
  const [text = "", bits] = cidr.split("/");
  const address = ipaddr.parse(text);
  const bytes = address.toByteArray();
  const width = bytes.length * 8;
  const free = BigInt(width - Number(bits ?? width));
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const first = (value >> free) << free;
  return { family: address.kind(), first, last: first + (1n << free) - 1n };
}

/** How many addresses lie in at least one of them. */
function sizeOf(intervals: readonly Interval[]): bigint {
  let size = 0n;
  let end = -1n;
  for (const [first, last] of intervals.toSorted((one, other) => (one[0] < other[0] ? -1 : 1))) {
    const from = first > end ? first : end + 1n;
    if (last >= from) size += last - from + 1n;
    if (last > end) end = last;
  }
  return size;
}

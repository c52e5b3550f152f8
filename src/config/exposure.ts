import ipaddr from "ipaddr.js";
import { issuedWeakness } from "../sources/index.ts";
import { isLoopbackHost } from "./public-host.ts";
import type { Environment } from "./read-variables.ts";
import { type Exposure, weakSecrets } from "./secrets.ts";
import { secretVariables, type sourcesOf } from "./sources.ts";
import type { ConfigReading, Values } from "./variables.ts";

type Sources = ReturnType<typeof sourcesOf>;

/**
 * Exposures of the receiver: secrets that can be guessed, certificates that are not verified, networks that hold
 * everyone, plain HTTP. Production refuses it, development returns it as warnings; tests have constant secrets on purpose.
 */
export function checkExposure({ values, problems }: ConfigReading, env: Environment, sources: Sources): string[] {
  if (values.APP_ENV === "test") return [];
  const open = [processExposures(env), networkExposures(values), plainHttpExposures(values)].flat();
  const exposures: Exposure[] = [...weakSecrets(values), ...weakSourceSecrets(sources), ...open];
  const warned = exposures.filter(({ name, message, production, development }) => {
    if (values.APP_ENV !== "production") return development !== "ignore";
    if (production !== "warn") problems.add([name], `${message}. Production does not start with it`);
    return production === "warn";
  });
  return warned.map(({ name, message }) => `${name}: ${message}`);
}

/** Secrets that can be guessed. A short one that is no mistake may be rotated out, or be a verify token: it is warned of. */
function weakSourceSecrets({ named, presets }: Sources): Exposure[] {
  const find = (source: string, secrets: readonly string[], nameOf: (index: number) => string) =>
    secrets.flatMap((secret, index): Exposure[] => {
      const weakness = issuedWeakness(secret, [source]);
      if (weakness === undefined) return [];
      const isTolerable = weakness.isGuessable && index > 0;
      return [{ name: nameOf(index), message: weakness.message, ...(isTolerable && { production: "warn" }) }];
    });
  return [
    ...named.flatMap(({ name, definition: { secrets } }) => {
      const place = (index: number) => (secrets.length > 1 ? ` ${index + 1} of ${secrets.length}` : "");
      return find(name, secrets, (index) => `sources.${name}: secret${place(index)}`);
    }),
    ...presets.flatMap(({ name, secrets }) => find(name, secrets, (index) => secretVariables(name)[index] ?? name)),
  ];
}

function processExposures(env: Environment): Exposure[] {
  const exposures: Exposure[] = [];
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    const message =
      'got "0", expected it not to be set: it switches off the verification of every certificate. To trust an ' +
      "authority of your own, name its file in NODE_EXTRA_CA_CERTS";
    exposures.push({ name: "NODE_TLS_REJECT_UNAUTHORIZED", message });
  }
  if (/--insecure[-_]http[-_]parser/.test(env.NODE_OPTIONS ?? "")) {
    const message = "got --insecure-http-parser, expected it not to be set: it lets a request hide in another one";
    exposures.push({ name: "NODE_OPTIONS", message });
  }
  return exposures;
}

const EXPECTED_NETWORKS = {
  TRUST_PROXY:
    "your proxies' own addresses: a trusted proxy chooses " +
    "the address that limits and IP_ALLOW_LIST see, and passes plain HTTP for HTTPS",
  NOTIFY_ALLOW_ADDRESSES:
    "the private networks that the webhook's receiver and the mail " +
    "server are in: public addresses need no entry, and this allows loopback and cloud metadata addresses",
};

function networkExposures(values: Values): Exposure[] {
  return Object.entries(EXPECTED_NETWORKS).flatMap(([name, expected]) => {
    const share = largeAddressShare(values[name as keyof typeof EXPECTED_NETWORKS] ?? []);
    return share === undefined ? [] : [{ name, message: `got networks with ${share}, expected ${expected}` }];
  });
}

function plainHttpExposures(values: Values): Exposure[] {
  // Browsers are sent to these with the code, and after it.
  const exposures = (["OAUTH_REDIRECT_URI", "OAUTH_SUCCESS_URL"] as const).flatMap((name): Exposure[] => {
    const url = values[name];
    if (url === undefined || URL.parse(url)?.protocol === "https:") return [];
    const message = `got ${JSON.stringify(url)}, expected an https address`;
    return [{ name, message, development: "ignore" }];
  });
  const { ADMIN_HOST: host, ADMIN_ALLOW_PLAIN_HTTP: isAllowed } = values;
  if (!isLoopbackHost(host) && !isAllowed) {
    const message =
      `got ${JSON.stringify(host)}, expected a loopback address: the admin listener speaks plain HTTP, and its token and ` +
      "sessions would cross the network in clear. Put a proxy with TLS on this machine, or, where nothing but that " +
      "proxy and the probes can reach the port (a container's own network), set ADMIN_ALLOW_PLAIN_HTTP=true";
    exposures.push({ name: "ADMIN_HOST", message });
  }
  return exposures;
}

/** Private networks are a hundredth of all addresses; the published lists of large providers are less than a twentieth. */
const MAX_PERCENT = 6;
const MAPPED_IPV4 = ipaddr.parse("::ffff:0:0");

/** The share of all addresses that these networks hold, in words; undefined for a small one. Overlaps count twice. */
function largeAddressShare(cidrs: readonly string[]): string | undefined {
  const shares = { IPv4: 0, IPv6: 0 };
  for (const cidr of new Set(cidrs)) {
    const [text = "", suffix] = cidr.split("/");
    const address = ipaddr.parse(text);
    const bits = Number(suffix ?? address.toByteArray().length * 8);
    shares[address.kind() === "ipv4" ? "IPv4" : "IPv6"] += 2 ** -bits;
    // An IPv4 address also matches in its form inside IPv6 (RFC 4291 §2.5.5.2).
    if (address.kind() === "ipv6" && address.match(MAPPED_IPV4, Math.min(bits, 96)))
      shares.IPv4 += 2 ** -Math.max(0, bits - 96);
  }
  for (const [family, share] of Object.entries(shares)) {
    const percent = Math.min(100, Math.floor(100 * share));
    if (percent >= MAX_PERCENT) return `${percent} % of all ${family} addresses`;
  }
  return undefined;
}

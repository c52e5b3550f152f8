import { createHmac, hkdfSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, Server } from "node:http";
import { domainToASCII } from "node:url";
import { type AdminAccess, CALLBACK_PATH, type OidcProvider } from "../admin/index.ts";
import { type Config, isLoopbackHost } from "../config/index.ts";
import { providerPlatform } from "../configured/index.ts";
import { type Clock, type Log, lowerAscii } from "../domain/index.ts";
import { createReadOrigin } from "../http/exchange/index.ts";
import { createConnectionLimit, guardConnections } from "../http/index.ts";
import { createSignIn, type Identity } from "../oauth/index.ts";
import type { Role } from "../store/index.ts";
import { type Encryptor, packageFile, rateKey } from "../system/index.ts";

export function adminAccess(config: Config, encryptor: Encryptor, clock: Clock): AdminAccess {
  const { admin, listen, encryptionKey } = config;
  const key = Buffer.from(hkdfSync("sha256", encryptionKey, new Uint8Array(), "oncehook/sessions", 32));
  const fingerprint = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 32);
  const originOf = createReadOrigin(listen.trustProxy);
  return {
    tokens: [
      ...(admin.token === null ? [] : [{ token: admin.token, role: "operator" } as const]),
      ...(admin.viewerToken === null ? [] : [{ token: admin.viewerToken, role: "viewer" } as const]),
    ],
    provider: operatorProvider(config, encryptor, clock, fingerprint),
    sessionHours: admin.sessionHours,
    baseUrl: admin.baseUrl,
    isAllowedHost: allowedHosts(admin),
    remoteAddress: (message) => originOf(message).address,
    rateKey,
    fingerprint,
  };
}

export async function packageVersion(): Promise<string> {
  const manifest = await readFile(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * A web page may point its name at this machine (DNS rebinding). The browser would then take it for the listener's
 * page. An address that others can reach has names that this process does not know.
 */
function allowedHosts({ host, baseUrl }: Config["admin"]): AdminAccess["isAllowedHost"] {
  if (!isLoopbackHost(host)) return () => true;
  const given = baseUrl === null ? undefined : new URL(baseUrl).hostname;
  return (hostname) => hostname === given || isLoopbackHost(hostname);
}

function operatorProvider(
  { admin, environment }: Config,
  encryptor: Encryptor,
  clock: Clock,
  fingerprint: AdminAccess["fingerprint"],
): OidcProvider | null {
  const { oidc, baseUrl } = admin;
  if (oidc === null || baseUrl === null) return null;
  const { issuer, clientId, claim, operators, viewers } = oidc;
  const platform = providerPlatform(oidc, environment);
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`;
  return {
    signIn: createSignIn({ platform, encryptor, clock, redirectUri, claim }),
    label: new URL(issuer).host,
    roleOf: roleByClaim(claim, operators, viewers),
    fingerprint: fingerprint(`oidc\n${JSON.stringify([issuer, clientId, claim, operators, viewers])}`),
  };
}

/**
 * Mail addresses are compared without regard to the case of ASCII letters: providers and people write them differently.
 * Other letters are compared as they are: Unicode has some that become ASCII ones, such as U+212A, which becomes k.
 */
function roleByClaim(claim: string, operators: readonly string[], viewers: readonly string[]) {
  const normalized = (value: string) => (claim === "email" ? normalizedAddress(value) : value);
  const lists = { operator: new Set(operators.map(normalized)), viewer: new Set(viewers.map(normalized)) };
  return ({ values }: Identity): Role | undefined => {
    const isOn = (role: Role) => values.some((value) => lists[role].has(normalized(value)));
    if (isOn("operator")) return "operator";
    return isOn("viewer") ? "viewer" : undefined;
  };
}

function normalizedAddress(address: string): string {
  const domainAt = address.lastIndexOf("@") + 1;
  const labels = address.slice(domainAt).split(".").map(normalizedLabel);
  return `${lowerAscii(address.slice(0, domainAt))}${labels.join(".")}`;
}

/** Punycode (RFC 5891) makes both spellings of a name one. A look-alike of an ASCII name stays as it is, and equals none. */
function normalizedLabel(label: string): string {
  const ascii = lowerAscii(label);
  if (/^\p{ASCII}*$/u.test(ascii)) return ascii;
  const encoded = domainToASCII(label);
  return encoded.startsWith("xn--") ? encoded : label;
}

/** The process receives callbacks too, and needs its file descriptors for them. */
const MAX_CONNECTIONS = 512;
/** A file of the dashboard over a slow line. */
const WRITE_TIMEOUT_MS = 30_000;

/** Bounds the connections of the admin listener like those of the public one, without a bound for one address. */
export function createAdminConnections(log: Log) {
  const unfinished = new Set<IncomingMessage>();
  const limit = createConnectionLimit({
    limits: { max: MAX_CONNECTIONS, maxPerAddress: MAX_CONNECTIONS, isProxy: () => true },
    endOldestBody() {
      const [oldest] = unfinished;
      if (oldest === undefined) return false;
      unfinished.delete(oldest);
      oldest.socket.destroy();
      return true;
    },
    report: (closed) =>
      log.warn(
        { closed, most: MAX_CONNECTIONS },
        "connections to the admin listener were closed: as many were open as may be",
      ),
  });
  const guards: { close(): void }[] = [limit];
  const report = (reason: string, closed: number): void =>
    log.warn({ closed }, `connections to the admin listener were closed: ${reason}`);

  return {
    guard(server: Server): void {
      server.on("connection", limit.accepted);
      server.prependListener("request", (message: IncomingMessage) => {
        const { headers } = message;
        if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
        unfinished.add(message);
        const over = (): void => void unfinished.delete(message);
        message.once("end", over).once("close", over);
      });
      guards.push(guardConnections(server, { limit, writeTimeoutMs: WRITE_TIMEOUT_MS, report }));
    },
    close(): void {
      for (const guard of guards) guard.close();
    },
  };
}

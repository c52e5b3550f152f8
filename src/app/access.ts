import { createHmac, hkdfSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Access, CALLBACK_PATH, type Provider } from "../admin/index.ts";
import { type Config, isLoopbackHost } from "../config/index.ts";
import type { Clock } from "../domain/index.ts";
import { createOrigin, rateKey } from "../http/index.ts";
import { createPlatform, createSignIn, type Person, type Platform } from "../oauth/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { Role } from "../store/index.ts";

/** Who may come in to the admin listener, as the configuration has it. */
export function adminAccess(config: Config, sealer: Sealer, clock: Clock): Access {
  const { admin, listen, encryptionKey } = config;
  const key = Buffer.from(hkdfSync("sha256", encryptionKey, new Uint8Array(), "oncehook/sessions", 32));
  const fingerprint = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 32);
  const originOf = createOrigin(listen.trustProxy);
  return {
    tokens: [
      { token: admin.token, role: "operator" },
      ...(admin.viewerToken === null ? [] : [{ token: admin.viewerToken, role: "viewer" } as const]),
    ],
    provider: providerOf(config, sealer, clock, fingerprint),
    sessionHours: admin.sessionHours,
    baseUrl: admin.baseUrl,
    isOwnHost: ownHosts(admin),
    remoteAddress: (message) => originOf(message).address,
    rateKey,
    fingerprint,
  };
}

/** The version of the package. */
export async function ownVersion(): Promise<string> {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * A page of the internet may have its name lead to this machine (DNS rebinding), and would then be the listener's own page for the
 * browser. An address that others can reach too has names of which nothing is known here.
 */
function ownHosts({ host, baseUrl }: Config["admin"]): Access["isOwnHost"] {
  if (!isLoopbackHost(host)) return () => true;
  const given = baseUrl === null ? undefined : new URL(baseUrl).hostname;
  return (hostname) => hostname === given || isLoopbackHost(hostname);
}

/** The provider that signs operators in. */
export function providerPlatform(
  { issuer, clientId, clientSecret, scope }: NonNullable<Config["admin"]["oidc"]>,
  environment: Config["environment"],
): Platform {
  const settings = { issuer, clientId, clientSecret, scope };
  const addresses = { authorizationUrl: null, tokenUrl: null, revocationUrl: null };
  return createPlatform({ ...settings, ...addresses }, environment === "production");
}

function providerOf(
  { admin, environment }: Config,
  sealer: Sealer,
  clock: Clock,
  fingerprint: Access["fingerprint"],
): Provider | null {
  const { oidc, baseUrl } = admin;
  if (oidc === null || baseUrl === null) return null;
  const { issuer, clientId, claim, operators, viewers } = oidc;
  const platform = providerPlatform(oidc, environment);
  const redirectUri = `${baseUrl}${CALLBACK_PATH}`;
  return {
    signIn: createSignIn({ platform, sealer, clock, redirectUri, claim }),
    label: new URL(issuer).host,
    roleOf: roleBy(claim, operators, viewers),
    fingerprint: fingerprint(`oidc\n${JSON.stringify([issuer, clientId, claim, operators, viewers])}`),
  };
}

/** Mail addresses are compared without regard to case, as providers write them one way and people another. */
function roleBy(
  claim: string,
  operators: readonly string[],
  viewers: readonly string[],
): (person: Person) => Role | undefined {
  const spelt = (value: string) => (claim === "email" ? value.toLowerCase() : value);
  const lists = { operator: new Set(operators.map(spelt)), viewer: new Set(viewers.map(spelt)) };
  return ({ values }) => {
    const isOn = (role: Role) => values.some((value) => lists[role].has(spelt(value)));
    if (isOn("operator")) return "operator";
    return isOn("viewer") ? "viewer" : undefined;
  };
}

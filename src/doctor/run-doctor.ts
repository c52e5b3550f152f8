import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { getCACertificates } from "node:tls";
import { CALLBACK_PATH } from "../admin/index.ts";
import { type Config, ConfigError, compareEnvironments, type EnvironmentFile, startsFlows } from "../config/index.ts";
import {
  addressesOf,
  type ConfiguredSource,
  configuredChannelNames,
  configuredSources,
  createPlatformScheme,
  describeMethods,
  handlesSignIns,
  providerPlatform,
  registeredAddresses,
  trustedCertificates,
  unhandledSignIn,
  unsignedBodyWarning,
  WITHOUT_PLATFORM,
} from "../configured/index.ts";
import { readDiagnosisSecrets } from "../credentials/index.ts";
import { BUILT_IN_PROTOCOL, DAY_MS, errorReason } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { readTlsPair } from "../http/index.ts";
import { createPlatform } from "../oauth/index.ts";
import { createAllowedAddresses } from "../outbox/index.ts";
import { boundedFetch, systemClock } from "../system/index.ts";
import { checkDatabase, type DoctorInput } from "./check-database.ts";
import { type Finding, failure, ok, orConfigError, warning, warnings } from "./check-secrets.ts";
import { checkSources } from "./check-sources.ts";

export async function runDoctor(
  input: DoctorInput,
  registered: readonly string[],
  files: readonly EnvironmentFile[],
  handlers: readonly Handler[] = [],
): Promise<Finding[]> {
  const { config } = input;
  const now = systemClock.now();
  const kind = config.database.kind === "sqlite" ? "SQLite" : "PostgreSQL";
  return [
    ok("configuration", `is valid for ${config.environment}, on ${kind}`),
    ...warnings("configuration", config.warnings),
    ...(await checkAuthentication(config)),
    ...(await checkSources(config, handlers)),
    ...(await checkDatabase(input, configuredChannelNames(config), now, handlers)),
    ...(await checkCertificate(config, now)),
    ...(await checkOAuth(config, handlers)),
    ...(await checkAccess(config)),
    ...(await checkNotifications(config)),
    ...(await checkAddress(config, registered, handlers)),
    ...checkEnvironments(files, config.secretValues),
  ];
}

function checkEnvironments(files: readonly EnvironmentFile[], secrets: readonly string[]): Finding[] {
  const about = "environments";
  if (files.length < 2) return [ok(about, "fewer than two environment files to compare")];
  const problems = compareEnvironments(files, secrets).map((problem) => failure(about, problem));
  const names = files.map(({ name }) => name).join(", ");
  return problems.length > 0 ? problems : [ok(about, `${names} share no secret, address or database`)];
}

export async function checkAccess({ admin, environment }: Config): Promise<Finding[]> {
  const about = "admin access";
  const { oidc, baseUrl } = admin;
  if (oidc === null) return [ok(about, "by token; ADMIN_OIDC_ISSUER is not set")];
  try {
    await providerPlatform(oidc, environment).server();
  } catch (error) {
    return [failure(about, `ADMIN_OIDC_ISSUER: ${oidc.issuer} cannot be discovered: ${errorReason(error)}`)];
  }
  return [ok(about, `register this redirect address with the provider: ${baseUrl}${CALLBACK_PATH}`)];
}

/**
 * SPEC 1.2: the address that the platform has registered must exactly equal one in use. The redirect address of
 * OAuth is in use where a handler receives what redirects bring.
 * @param registered what the platform's allow list holds; without it the check lists the addresses to register
 */
async function checkAddress(config: Config, registered: readonly string[], handlers: readonly Handler[]) {
  const about = "address";
  const callbacks = registeredAddresses(config).map(({ url }) => url);
  const redirects = handlesSignIns(config, handlers) ? [config.redirect.uri] : [];
  // The check of the sources says why they cannot be made.
  const configured = await configuredSources(config).catch((): ConfiguredSource[] => []);
  const sources = configured.map((one) => {
    return { name: one.name, urls: addressesOf(one, config, config.baseUrl).map(({ url }) => url) };
  });
  const served = [...callbacks, ...sources.flatMap(({ urls }) => urls), ...redirects];
  const ofPlatform = `register one of these for callbacks of ${BUILT_IN_PROTOCOL}: ${callbacks.join(" ")}`;
  if (registered.length === 0)
    return [
      ...(config.servesPlatform ? [ok(about, ofPlatform)] : []),
      ...sources.map(({ name, urls: [url] }) => ok(about, `register this for callbacks of ${name}: ${url}`)),
      ...redirects.map((url) => ok(about, `register this as the redirect address for OAuth flows: ${url}`)),
    ];
  return registered.map((address) =>
    served.includes(address)
      ? ok(about, `${address} is registered and served`)
      : failure(about, `${address} is registered, but not served; served are: ${served.join(" ")}`),
  );
}

export async function checkAuthentication(config: Config): Promise<Finding[]> {
  const about = "authentication";
  if (!config.servesPlatform) return [ok(about, WITHOUT_PLATFORM)];
  const files = createPlatformScheme(config, systemClock).then(() => readDiagnosisSecrets(config));
  const read = await orConfigError(files);
  if (read instanceof ConfigError) return [failure(about, read.problems.join("; "))];
  const { jwt } = config.authentication;
  const open = unsignedBodyWarning(config);
  const findings = open === undefined ? [] : [warning(about, open)];
  if (jwt?.keys.from === "jwks") findings.push(await fetchJwks(about, jwt.keys.url));
  if (findings.length > 0) return findings;
  return [ok(about, `${BUILT_IN_PROTOCOL} authenticates callbacks by ${describeMethods(config)}`)];
}

async function fetchJwks(about: string, url: string): Promise<Finding> {
  try {
    const response = await boundedFetch(url, { signal: AbortSignal.timeout(5_000) });
    const { keys } = (await response.json()) as { keys?: unknown };
    if (!Array.isArray(keys)) return failure(about, `JWT_JWKS_URL: ${url} answers ${response.status} and no JWK Set`);
    return ok(about, `JWT_JWKS_URL: ${url} publishes ${keys.length} keys`);
  } catch (error) {
    return failure(about, `JWT_JWKS_URL: ${url} does not answer with a JWK Set: ${String(error)}`);
  }
}

const SOON_DAYS = 21;

/**
 * The certificate of `TLS_CERT_FILE`: whether it can be used, for this host, and for how long. In production also
 * whether its chain ends at an authority that platforms know.
 * @param authorities in PEM; left out, those that Node knows, NODE_EXTRA_CA_CERTS among them
 */
export async function checkCertificate(
  { listen, baseUrl, environment }: Config,
  now: Date,
  authorities: () => readonly string[] = () => getCACertificates("default"),
): Promise<Finding[]> {
  const about = "certificate";
  if (listen.tls === undefined) {
    const how = listen.trustProxy.length > 0 ? "a trusted proxy ends TLS" : "none: plain HTTP on this machine only";
    return [ok(about, how)];
  }
  let certificate: X509Certificate;
  let chain: readonly X509Certificate[];
  try {
    const { cert } = await readTlsPair(listen.tls);
    certificate = new X509Certificate(cert);
    chain = (cert.toString("latin1").match(ONE_CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  } catch (error) {
    return [failure(about, errorReason(error))];
  }
  const { hostname } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const findings: Finding[] = [];
  if ((isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) === undefined) {
    const but = `the host of CALLBACK_BASE_URL, but for ${certificate.subjectAltName}`;
    findings.push(failure(about, `is not for ${hostname}, ${but}`));
  }
  const days = Math.floor((certificate.validToDate.getTime() - now.getTime()) / DAY_MS);
  if (days < 0) findings.push(failure(about, `expired on ${certificate.validTo}; renew it`));
  else if (days < SOON_DAYS)
    findings.push(warning(about, `expires in ${days} days, on ${certificate.validTo}; renew it`));
  const doubt = environment === "production" ? doubtOf(chain, authorities()) : undefined;
  if (doubt !== undefined) findings.push(warning(about, doubt));
  return findings.length > 0 ? findings : [ok(about, `is for ${hostname} and expires in ${days} days`)];
}

/** The reason why platforms would not trust this chain, as far as it shows without a connection. */
function doubtOf([leaf, ...others]: readonly X509Certificate[], authorities: readonly string[]) {
  const roots = authorities.map((pem) => new X509Certificate(pem));
  const left = new Set(others);
  for (let current = leaf; current !== undefined; ) {
    const issued = current;
    if (roots.some((root) => root.fingerprint256 === issued.fingerprint256 || isIssuer(root, issued))) return undefined;
    if (isIssuer(issued, issued)) return issued === leaf ? SELF_SIGNED : UNKNOWN_AUTHORITY;
    const next = [...left].find((other) => isIssuer(other, issued));
    if (next === undefined) return incomplete(issued);
    left.delete(next);
    current = next;
  }
  return undefined;
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

const ONE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const SELF_SIGNED =
  "is self-signed, and platforms trust none such: get one from a public authority, or end TLS at a proxy that has one";
const UNKNOWN_AUTHORITY =
  "ends at an authority that Node does not know, and so probably no platform does: get one from a public authority. Where " +
  "the platform trusts this authority, name its file in NODE_EXTRA_CA_CERTS";
const incomplete = ({ issuer }: X509Certificate) =>
  `has no complete chain: TLS_CERT_FILE lacks the certificate of its issuer (${issuer.split("\n").join(", ")}), which Node does ` +
  "not know either. Append the authority's intermediate certificates to the file, which many call fullchain.pem";

const CHECK_NAME = "notifications";

async function checkNotifications(config: Config): Promise<Finding[]> {
  const { webhook, email, alertChannels } = config.notifications;
  const { slack, teams, discord, pagerDuty } = alertChannels;
  const channels = Object.entries({
    ...{ webhook: webhook?.url, email: email?.url, Slack: slack, Teams: teams, Discord: discord },
    PagerDuty: pagerDuty?.url,
  });
  const read = await orConfigError(trustedCertificates(config));
  const findings = read instanceof ConfigError ? read.problems.map((problem) => failure(CHECK_NAME, problem)) : [];
  const checked = channels.map(([channel, url]) => (typeof url === "string" ? checkHost(channel, url, config) : []));
  findings.push(...(await Promise.all(checked)).flat());
  if (webhook !== null || email !== null) return findings;
  return [...findings, ok(CHECK_NAME, "go to the log: neither NOTIFY_WEBHOOK_URL nor SMTP_URL is set")];
}

/** Names the channel: all of the address may be a secret. */
async function checkHost(channel: string, url: string, { notifications }: Config): Promise<Finding> {
  const { hostname } = new URL(url);
  const addresses = createAllowedAddresses(notifications.allowAddresses);
  const name = hostname.replace(/^\[|\]$/g, "");
  try {
    addresses.assertHost(name);
    await new Promise<void>((resolve, reject) =>
      addresses.lookup(name, { all: true }, (error) => (error === null ? resolve() : reject(error))),
    );
    return ok(CHECK_NAME, `${channel}: its host has an allowed address`);
  } catch (error) {
    return failure(CHECK_NAME, `${channel}: ${errorReason(error)}`);
  }
}

export async function checkOAuth(config: Config, handlers: readonly Handler[]): Promise<Finding[]> {
  const about = "oauth";
  const { oauth, redirect } = config;
  const unhandled = unhandledSignIn(handlesSignIns(config, handlers));
  if (oauth === null) {
    if (config.environment === "production") return [ok(about, "is not configured")];
    return [ok(about, unhandled ?? "the sandbox platform stands in")];
  }
  let server: { readonly token_endpoint?: string; readonly userinfo_endpoint?: string };
  try {
    server = await createPlatform(oauth, config.environment === "production").server();
  } catch (error) {
    return [failure(about, `OAUTH_ISSUER: ${oauth.issuer} cannot be discovered: ${errorReason(error)}`)];
  }
  const findings = [ok(about, `register this redirect address with the authorization server: ${redirect.uri}`)];
  if (unhandled !== undefined) findings.push(warning(about, unhandled));
  if (!startsFlows(config)) findings.push(warning(about, "OAUTH_AUTHORIZATION_URL is not set: no flow starts here"));
  if (server.token_endpoint === undefined)
    findings.push(failure(about, `OAUTH_ISSUER: ${oauth.issuer} names no token_endpoint: no code can be exchanged`));
  findings.push(ok(about, userIdSource(oauth, server.userinfo_endpoint)));
  return findings;
}

/** For doctor, before a code is spent on an answer that names no user. */
function userIdSource({ scope, userInfo }: NonNullable<Config["oauth"]>, discovered: string | undefined): string {
  if (scope?.split(" ").includes("openid")) return "users are known by sub of their ID token";
  const url = userInfo.url ?? discovered;
  if (url !== undefined) return `users are known by user_id of the token answer, else by ${url}`;
  return (
    "users are known by user_id of the token answer, else kept under random ids; set OAUTH_USERINFO_URL where the platform " +
    "answers without user_id"
  );
}

import { createHash } from "node:crypto";
import { failed, isRefused, type Refused, refused } from "../../domain/index.ts";
import { FetchedKeys, KeysUnavailable, keep } from "./fetched-keys.ts";
import type { HeldBody, PathParameters, Scheme, SignedRequest, VerificationResult } from "./scheme.ts";

/** What a function of secrets gets: the parameters of the source's path, such as `{ shop: "acme.example" }`. */
export interface TenantContext {
  readonly params: PathParameters;
}

/** The secrets of one tenant, the current one first; none for a tenant that there is not. */
export type TenantSecrets = (
  context: TenantContext,
) => string | readonly string[] | undefined | Promise<string | readonly string[] | undefined>;

/** More than one receiver serves; a tenant that was not heard of for long makes room. */
const MOST_TENANTS = 10_000;
/** Made-up tenants are remembered too, so that each costs one look-up a minute. */
const MOST_UNKNOWN = 10_000;
/** After a start all tenants come at once; a flood of made-up ones must not ask without end. */
const MOST_LOOKUPS = 2_000;
const LOOKUP_WINDOW_MS = 10_000;

/** The current and the previous secret of as many tenants as are kept. */
const MOST_SECRETS = 20_000;

interface Tenant {
  readonly secrets: readonly string[];
  readonly fingerprints: readonly string[];
  readonly scheme: Scheme;
}

export interface TenantSchemeOptions {
  /** The source's. */
  readonly name: string;
  readonly secretsOf: TenantSecrets;
  readonly make: (secrets: readonly string[]) => Scheme;
  /** Where the signature covers the path, one secret may be of several tenants: no callback fits two of them. */
  readonly signsPath: boolean;
  readonly warn?: ((fields: Readonly<Record<string, unknown>>, message: string) => void) | undefined;
}

/**
 * One scheme for each tenant of a source, made with the secrets that a function of the user's gives, and kept in a bounded
 * cache. A signature that none of them has made is looked at once more with secrets that were asked for again, since a
 * tenant may have rotated. Where the function fails, nothing can be said: 503, and the platform sends the callback again.
 *
 * A secret is of the tenant for which this process has verified it first. Under another tenant it is refused, unless the
 * first one has lost it: a recorded callback would run once for each of them.
 */
export function createTenantScheme(options: TenantSchemeOptions): Scheme {
  const { name, make, signsPath, warn } = options;
  async function load(id: string): Promise<Tenant | undefined> {
    const secrets = await secretsOfTenant(id, options);
    if (secrets.length === 0) return undefined;
    return { secrets, fingerprints: secrets.map(fingerprint), scheme: make(secrets) };
  }
  const tenants = new FetchedKeys(load, {
    name: `${name}: secret`,
    mostKnown: MOST_TENANTS,
    mostUnknown: MOST_UNKNOWN,
    mostFetches: MOST_LOOKUPS,
    windowMs: LOOKUP_WINDOW_MS,
  });
  /** The tenants of secrets that were verified, by fingerprint. */
  const owners = new Map<string, string>();

  async function otherOwner(id: string, secret: string, body?: HeldBody): Promise<string | undefined> {
    const owner = owners.get(secret) ?? id;
    if (owner !== id && (await tenants.renewed(owner, body))?.fingerprints.includes(secret)) return owner;
    keep(owners, secret, id, MOST_SECRETS);
    return undefined;
  }

  /** The verdict on a callback of a tenant, unless the secret that verified it is another tenant's too. */
  async function ofOne(id: string, tenant: Tenant, verdict: VerificationResult, body?: HeldBody) {
    const [used] = "verified" in verdict ? verdict.verified : [];
    const secret = used && tenant.fingerprints[used.index];
    if (signsPath || secret === undefined) return verdict;
    const other = await otherOwner(id, secret, body);
    if (other === undefined) return verdict;
    warn?.({ source: name, tenants: [other, id] }, SHARED);
    const detail = `${other} and ${id} have one secret; the path is not signed, so a callback of one could be sent to the other`;
    return refused("signature_mismatch", { detail });
  }

  async function verify(request: SignedRequest): Promise<VerificationResult> {
    const id = JSON.stringify(request.params ?? {});
    const body = request.bodyReservation;
    const tenant = await tenants.get(id, body);
    if (tenant === undefined) return unknownTenant(id);
    const verdict = await tenant.scheme.verify(request);
    if (!isRefused(verdict) || verdict.code !== "signature_mismatch") return ofOne(id, tenant, verdict, body);
    const renewed = await tenants.renewed(id, body);
    if (renewed === undefined) return unknownTenant(id);
    const isSame = renewed.secrets.join("\n") === tenant.secrets.join("\n");
    return isSame ? verdict : ofOne(id, renewed, await renewed.scheme.verify(request), body);
  }

  return {
    challenge: 'Signature realm="callbacks"',
    isCostly: true,
    verify: (request) =>
      verify(request).catch((error: unknown) => {
        if (error instanceof KeysUnavailable) return failed("keys_unavailable", error);
        throw error;
      }),
  };
}

const SHARED =
  "two tenants of a source have one secret, so that a callback of one could be sent to the other; the second one is " +
  "refused. Give each tenant a secret of its own, or use a source without parameters in its path";
const NO_TEXT =
  "the function `secret` of a source returned what is no text and no list of texts; the tenant counts as unknown. " +
  "If it looks in an object, check the name with Object.hasOwn, or use a Map";

/** None where the function gives none, or anything but texts: an object's own `constructor` is the name of no tenant. */
async function secretsOfTenant(
  id: string,
  { secretsOf, name, warn }: TenantSchemeOptions,
): Promise<string[]> {
  const params: PathParameters = JSON.parse(id);
  const given: unknown = await secretsOf({ params });
  const secrets = [given].flat().filter((secret) => secret !== undefined && secret !== null);
  if (secrets.every((secret) => typeof secret === "string")) return secrets;
  warn?.({ source: name, tenant: id }, NO_TEXT);
  return [];
}

const fingerprint = (secret: string) => createHash("sha256").update(secret).digest("base64");

function unknownTenant(id: string): Refused {
  return refused("signature_mismatch", { detail: `the function \`secret\` knows no secret for ${id}` });
}

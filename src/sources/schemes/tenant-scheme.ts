import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRefused, type Refused, refused, tenantName } from "../../domain/index.ts";
import type { PathParameters, SignedRequest } from "../request.ts";
import { FetchedKeys, keysUnavailable } from "./fetched-keys.ts";
import type { Scheme, VerificationResult } from "./scheme.ts";
import { type ClaimSecret, SecretOwners } from "./secret-owners.ts";
import { issuedWeakness } from "./weak-secret.ts";

/** The argument of a function of secrets: the parameters of the source's path, such as `{ shop: "acme.example" }`. */
export interface TenantContext {
  readonly params: PathParameters;
}

type Given<Secret> = Secret | readonly Secret[] | undefined;

/** The secrets or keys of one tenant, the current one first; none for a tenant that there is not. */
export type TenantSecrets<Secret = string> = (context: TenantContext) => Given<Secret> | Promise<Given<Secret>>;

/** How a scheme refuses what none of its secrets has made. An unknown tenant is refused in the same words. */
export type SecretMismatch = "signature_mismatch" | "token_mismatch" | "jwt_signature";

/** More tenants than one receiver serves; past it, the one that was used longest ago makes room. */
const MOST_TENANTS = 10_000;
/** Made-up tenants are remembered too, so that each costs one look-up a minute. */
const MOST_UNKNOWN = 10_000;
/** After a start all tenants come at once. A flood of made-up ones, or of wrong signatures, must not ask forever. */
const MOST_LOOKUPS = 2_000;
const LOOKUP_WINDOW_MS = 10_000;

interface Tenant {
  readonly secrets: readonly unknown[];
  /** SHA-256 of each secret, base64, in the order of `secrets`. */
  readonly fingerprints: readonly string[];
  readonly scheme: Scheme;
}

/** The part of a source's environment that its scheme of tenants needs. */
export interface TenantEnvironment {
  /** The source's name. */
  readonly name: string;
  /** Writes to the log what is wrong with the source's own functions; once a minute for each message. */
  readonly warn?: ((fields: Readonly<Record<string, unknown>>, message: string) => void) | undefined;
  /** Which tenant has a secret, for all processes; only this one remembers it when left out. */
  readonly claimSecret?: ClaimSecret | undefined;
  /** The treatment of a tenant whose secret can be guessed; used when left out. */
  readonly weakSecrets?: "refuse" | "warn" | undefined;
}

export interface TenantSchemeOptions<Secret> extends TenantEnvironment {
  readonly secretsOf: TenantSecrets<Secret>;
  /** The option that holds that function. Default: `secret`. */
  readonly option?: string | undefined;
  readonly make: (secrets: readonly Secret[]) => Scheme;
  /** With a signature over the path, one secret may be of several tenants: no callback fits two of them. */
  readonly signsPath: boolean;
  /** Default: `signature_mismatch`. */
  readonly mismatch?: SecretMismatch | undefined;
  /** The bytes by which two secrets are compared; undefined for what is no secret. Default: the text. */
  readonly materialOf?: ((given: unknown) => string | Uint8Array | undefined) | undefined;
}

/**
 * One scheme for each tenant of a source, kept in a bounded cache. A function of the user's gives its secrets. A
 * signature that none of them has made is checked again with fresh secrets, since a tenant may have rotated. If the
 * function fails, the signature cannot be judged: the response is 503, and the platform sends the callback again.
 *
 * A secret is of the tenant for which it was verified first. Under another tenant it is refused, unless the first one
 * has lost it. Otherwise a recorded callback would run once for each of them.
 */
export function createTenantScheme<Secret = string>(options: TenantSchemeOptions<Secret>): Scheme {
  const { name, make, signsPath, option = "secret", mismatch = "signature_mismatch", warn } = options;
  async function load(id: string): Promise<Tenant | undefined> {
    const { secrets, fingerprints } = await secretsOfTenant(id, options);
    return secrets.length === 0 ? undefined : { secrets, fingerprints, scheme: make(secrets) };
  }
  const tenants = new FetchedKeys(load, {
    name: `the function \`${option}\` of ${name}`,
    mostKnown: MOST_TENANTS,
    mostUnknown: MOST_UNKNOWN,
    mostFetches: MOST_LOOKUPS,
    windowMs: LOOKUP_WINDOW_MS,
  });
  const owners = new SecretOwners(name, options.claimSecret);

  /** Undefined where the secret is of the request's own tenant. */
  async function otherOwner(secret: string, request: SignedRequest): Promise<string | undefined> {
    const tenant = tenantIn(request);
    const owner = await owners.of(secret, tenant);
    if (owner === tenant) return undefined;
    const id = tenantIdOf(owner, request);
    const holder = id === undefined ? undefined : await tenants.renewed(id, request.bodyReservation);
    if (holder?.fingerprints.includes(secret)) return owner;
    const now = await owners.move(secret, { from: owner, to: tenant });
    return now === tenant ? undefined : now;
  }

  /** The result on a callback of a tenant, unless a secret that verified it is another tenant's too. */
  async function ofOne(tenant: Tenant, result: VerificationResult, request: SignedRequest) {
    if (!("verified" in result)) return result;
    tenants.trust(request.bodyReservation);
    if (signsPath) return result;
    for (const { index } of result.verified) {
      const secret = tenant.fingerprints[index];
      const first = secret && (await otherOwner(secret, request));
      if (!first) continue;
      const second = tenantIn(request);
      warn?.({ source: name, tenants: [first, second] }, SHARED);
      const detail = `${first} and ${second} have one secret; the path is not signed, so a callback of one could be sent to the other`;
      return refused(mismatch, { detail });
    }
    return result;
  }

  function unknownTenant(request: SignedRequest): UnknownTenant {
    const detail = `the function \`${option}\` returned none for ${tenantIn(request)}`;
    return { ...refused(mismatch, { detail }), tenantOption: option };
  }

  async function verify(request: SignedRequest): Promise<VerificationResult> {
    const id = JSON.stringify(request.params ?? {});
    const body = request.bodyReservation;
    const tenant = await tenants.get(id, body);
    if (tenant === undefined) return unknownTenant(request);
    const result = await tenant.scheme.verify(request);
    if (!isRefused(result) || result.code !== mismatch) return ofOne(tenant, result, request);
    const renewed = await tenants.renewed(id, body);
    if (renewed === undefined) return unknownTenant(request);
    if (isDeepStrictEqual(renewed.secrets, tenant.secrets)) return result;
    return ofOne(renewed, await renewed.scheme.verify(request), request);
  }

  return {
    challenge: `${mismatch === "signature_mismatch" ? "Signature" : "Token"} realm="callbacks"`,
    isCostly: true,
    verify: (request) => verify(request).catch(keysUnavailable),
  };
}

const SHARED =
  "two tenants of a source have one secret, so that a callback of one could be sent to the other; the second one is " +
  "refused. Give each tenant a secret of its own, or use a source without parameters in its path";
const NO_SECRET =
  "the function of a source's secrets returned what is no secret and no list of secrets; the tenant counts as unknown. " +
  "If it looks in an object, check the name with Object.hasOwn, or use a Map";

/** None where the function gives none, or anything but secrets: an object's own `constructor` is the name of no tenant. */
async function secretsOfTenant<Secret>(
  id: string,
  { secretsOf, name, materialOf = stringOrNone, warn, weakSecrets }: TenantSchemeOptions<Secret>,
): Promise<Omit<Tenant, "scheme"> & { readonly secrets: readonly Secret[] }> {
  const params: PathParameters = JSON.parse(id);
  const returned: unknown = await secretsOf({ params });
  const secrets = [returned].flat().filter((secret) => secret !== undefined && secret !== null);
  const materials = secrets.map(materialOf);
  const usable = materials.filter((material) => material !== undefined);
  const names = [name, ...Object.values(params)];
  const weak = secrets
    .map((secret) => (typeof secret === "string" ? issuedWeakness(secret, names) : undefined))
    .find((weakness) => weakness !== undefined);
  if (weak !== undefined && weakSecrets !== undefined) {
    const tenant = tenantIn({ params });
    warn?.({ source: name, tenant }, `the secret of a tenant can be guessed: ${weak.message}`);
    // An operator's mistake, which the platform outlives: with 401 it would give the events up.
    if (weakSecrets === "refuse") throw new Error(`the secret of ${tenant}: ${weak.message}`);
  }
  if (usable.length === secrets.length) return { secrets: secrets as Secret[], fingerprints: usable.map(fingerprint) };
  warn?.({ source: name, tenant: tenantIn({ params }) }, NO_SECRET);
  return { secrets: [], fingerprints: [] };
}

const stringOrNone = (given: unknown) => (typeof given === "string" ? given : undefined);
const fingerprint = (material: string | Uint8Array) => createHash("sha256").update(material).digest("base64");

/** Refused because a function gave no secret for the tenant of the path. */
export interface UnknownTenant extends Refused {
  /** The option that holds the function. */
  readonly tenantOption: string;
}

export function isTenantUnknown(refusal: Refused): refusal is UnknownTenant {
  return "tenantOption" in refusal;
}

/** The tenant in the path of a request, such as `acme.example`; empty where the path has no parameters. */
export const tenantIn = ({ params = {} }: Pick<SignedRequest, "params">): string => tenantName(params);

/** The id of another tenant of the same path. Undefined where the path had other parameters when it was stored. */
function tenantIdOf(tenant: string, { params = {} }: Pick<SignedRequest, "params">): string | undefined {
  const names = Object.keys(params);
  const values = tenant.split("/");
  if (names.length !== values.length) return undefined;
  return JSON.stringify(Object.fromEntries(names.map((name, place) => [name, values[place]])));
}

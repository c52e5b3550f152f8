import { isDeepStrictEqual } from "node:util";
import { failed, isRefused, type Refused, refused } from "../../domain/index.ts";
import { FetchedKeys, KeysUnavailable } from "./fetched-keys.ts";
import type { PathParameters, Scheme, SignedRequest, VerificationResult } from "./scheme.ts";

/** What a function of secrets gets: the parameters of the source's path, such as `{ shop: "acme.example" }`. */
export interface TenantContext {
  readonly params: PathParameters;
}

type Given<Secret> = Secret | readonly Secret[] | undefined;

/** The secrets or keys of one tenant, the current one first; none for a tenant that there is not. */
export type TenantSecrets<Secret = string> = (
  context: TenantContext,
) => Given<Secret> | Promise<Given<Secret>>;

/** How a scheme refuses what none of its secrets has made; a tenant that there is not is refused in the same words. */
export type SecretMismatch = "signature_mismatch" | "token_mismatch" | "jwt_signature";

/** More than one receiver serves; a tenant that was not heard of for long makes room. */
const MOST_TENANTS = 10_000;
/** Made-up tenants are remembered too, so that each costs one look-up a minute. */
const MOST_UNKNOWN = 10_000;
/** After a start all tenants come at once; a flood of made-up ones must not ask without end. */
const MOST_LOOKUPS = 2_000;
const LOOKUP_WINDOW_MS = 10_000;

interface Tenant {
  readonly secrets: readonly unknown[];
  readonly scheme: Scheme;
}

/**
 * One scheme for each tenant of a source, made with the secrets that a function of the user's gives, and kept in a bounded
 * cache. A signature that none of them has made is looked at once more with secrets that were asked for again, since a
 * tenant may have rotated. Where the function fails, nothing can be said: 503, and the platform sends the callback again.
 */
export function createTenantScheme<Secret>(
  name: string,
  secretsOf: TenantSecrets<Secret>,
  make: (secrets: readonly Secret[]) => Scheme,
  mismatch: SecretMismatch = "signature_mismatch",
): Scheme {
  async function load(id: string): Promise<Tenant | undefined> {
    const params: PathParameters = JSON.parse(id);
    const secrets = [(await secretsOf({ params })) ?? []].flat() as Secret[];
    return secrets.length === 0 ? undefined : { secrets, scheme: make(secrets) };
  }
  const tenants = new FetchedKeys(load, {
    name: `the function \`secret\` of ${name}`,
    mostKnown: MOST_TENANTS,
    mostUnknown: MOST_UNKNOWN,
    mostFetches: MOST_LOOKUPS,
    windowMs: LOOKUP_WINDOW_MS,
  });

  async function verify(request: SignedRequest): Promise<VerificationResult> {
    const id = JSON.stringify(request.params ?? {});
    const body = request.bodyReservation;
    const tenant = await tenants.get(id, body);
    if (tenant === undefined) return unknownTenant(request, mismatch);
    const verdict = await tenant.scheme.verify(request);
    if (!isRefused(verdict) || verdict.code !== mismatch) return verdict;
    const renewed = await tenants.renewed(id, body);
    if (renewed === undefined) return unknownTenant(request, mismatch);
    return isDeepStrictEqual(renewed.secrets, tenant.secrets) ? verdict : renewed.scheme.verify(request);
  }

  return {
    challenge: `${mismatch === "signature_mismatch" ? "Signature" : "Token"} realm="callbacks"`,
    isCostly: true,
    verify: (request) =>
      verify(request).catch((error: unknown) => {
        if (error instanceof KeysUnavailable) return failed("keys_unavailable", error);
        throw error;
      }),
  };
}

/** Refused because the function gave no secret for the tenant of the path. */
export interface UnknownTenant extends Refused {
  readonly isTenantUnknown: true;
}

function unknownTenant(request: SignedRequest, mismatch: SecretMismatch): UnknownTenant {
  const detail = `the function \`secret\` returned none for ${tenantIn(request)}`;
  return { ...refused(mismatch, { detail }), isTenantUnknown: true };
}

/** The tenant in the path of a request, such as `acme.example`; empty where the path has no parameters. */
export function tenantIn({ params = {} }: Pick<SignedRequest, "params">): string {
  return Object.values(params).join("/");
}

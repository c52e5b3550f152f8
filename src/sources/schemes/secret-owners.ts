import { KeysUnavailable, keep } from "./fetched-keys.ts";

export interface SecretClaim {
  /** The secret's SHA-256, in base64. */
  readonly secret: string;
  readonly tenant: string;
  /** The tenant that no longer has the secret. */
  readonly lostBy?: string;
}

/** The tenant of a secret, for all processes on one database: the given one, where no other came first. */
export type ClaimSecret = (claim: SecretClaim) => Promise<string>;

/** The current and the previous secret of as many tenants as are kept. */
const MOST_SECRETS = 20_000;
/** A claim that no process has repeated for 90 days is deleted. */
const CLAIM_EVERY_MS = 86_400_000;

interface Owner {
  readonly tenant: string;
  readonly claimedAt: number;
}

/** The tenants of secrets that were verified. A secret costs its process one look-up a day, however many callbacks arrive. */
export class SecretOwners {
  readonly #name: string;
  readonly #claim: ClaimSecret;
  readonly #known = new Map<string, Owner>();
  readonly #claims = new Map<string, Promise<string>>();

  /** @param claim without one, only this process remembers */
  constructor(name: string, claim: ClaimSecret = async ({ tenant }) => tenant) {
    this.#name = name;
    this.#claim = claim;
  }

  /** The tenant that has verified a secret first. @throws KeysUnavailable where that cannot be looked up */
  of(secret: string, tenant: string): string | Promise<string> {
    const known = this.#known.get(secret);
    const isFresh = known !== undefined && performance.now() - known.claimedAt < CLAIM_EVERY_MS;
    if (isFresh) return this.#keep(secret, known);
    const claim = this.#claims.get(secret) ?? this.#first(secret, tenant);
    return claim.catch((cause: unknown) => {
      if (known !== undefined) return known.tenant;
      throw this.#unavailable(cause);
    });
  }

  /** Gives the secret to another tenant, unless a third one has it by then. @returns its tenant from now on */
  async move(secret: string, { from, to }: { readonly from: string; readonly to: string }): Promise<string> {
    try {
      return this.#keep(secret, claimed(await this.#claim({ secret, tenant: to, lostBy: from })));
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  /** Callbacks that arrive together share a look-up. */
  #first(secret: string, tenant: string): Promise<string> {
    const claim = this.#claim({ secret, tenant })
      .then((owner) => this.#keep(secret, claimed(owner)))
      .finally(() => this.#claims.delete(secret));
    this.#claims.set(secret, claim);
    return claim;
  }

  #keep(secret: string, owner: Owner): string {
    keep(this.#known, secret, owner, MOST_SECRETS);
    return owner.tenant;
  }

  #unavailable(cause: unknown): KeysUnavailable {
    return new KeysUnavailable(`the tenant of a secret of ${this.#name} cannot be looked up: ${String(cause)}`, {
      cause,
    });
  }
}

const claimed = (tenant: string): Owner => ({ tenant, claimedAt: performance.now() });

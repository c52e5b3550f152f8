import { type Failed, isRefused, type Refused, refused } from "../domain/index.ts";
import { type Credential, isAbsent, type Scheme, type SignedRequest, type Verdict } from "./scheme.ts";

/**
 * Every scheme must accept the request; the first that does not decides. Costly ones come last: whoever fails a cheap
 * one is refused whatever the costly one would say, and must not make us ask another server.
 */
export function allOf(schemes: readonly Scheme[]): Scheme {
  const cheapFirst = schemes.toSorted((a, b) => Number(a.isCostly ?? false) - Number(b.isCostly ?? false));
  return combined(schemes, async (request) => {
    const verified: Credential[] = [];
    for (const scheme of cheapFirst) {
      const verdict = await scheme.verify(request);
      // Half of what must be there was there: the request is an attempt, and not one without a credential.
      if (isAbsent(verdict) && verified.length > 0) return refused(verdict.code);
      if (!("verified" in verdict)) return verdict;
      verified.push(...verdict.verified);
    }
    return { verified };
  });
}

/** One scheme is enough. When none accepts, the answer is of the one whose credential was there. */
export function anyOf(schemes: readonly Scheme[]): Scheme {
  return combined(schemes, async (request) => {
    const others: (Refused | Failed)[] = [];
    for (const scheme of schemes) {
      const verdict = await scheme.verify(request);
      if ("verified" in verdict) return verdict;
      others.push(verdict);
    }
    const undecided = others.find((verdict) => !isRefused(verdict));
    return undecided ?? others.find((verdict) => !isAbsent(verdict)) ?? (others[0] as Refused);
  });
}

function combined(schemes: readonly Scheme[], verify: (request: SignedRequest) => Promise<Verdict>): Scheme {
  const [only] = schemes;
  if (only === undefined) throw new TypeError("at least one scheme must authenticate a source");
  if (schemes.length === 1) return only;
  return {
    challenge: [...new Set(schemes.map(({ challenge }) => challenge))].join(", "),
    verify,
  };
}

import { type Clock, fromCanonicalBase64url } from "../domain/index.ts";
import type { IsEndpointCheck } from "../http/index.ts";
import type { Sealer } from "../seal/index.ts";

/** Requests by which this receiver checks its own registered addresses. */
export interface EndpointChecks {
  /** Headers for one request, by which any process with the same ENCRYPTION_KEY recognises it. */
  newProof(): Readonly<Record<string, string>>;
  /** Whether a request carries such a proof, which is good for one request in this process. */
  readonly isOne: IsEndpointCheck;
}

const HEADER = "x-oncehook-endpoint-check";
const CONTEXT = "endpoint-check";
/** Longer than a check takes, with what the clocks of two machines may differ. */
const VALID_MS = 60_000;
const TIME_BYTES = 8;
const LONGEST_PROOF = 128;
/** Only one check runs at a time in a process, with a request for each address. */
const MOST_REMEMBERED = 1_024;

/** A proof is the time, encrypted and authenticated: whoever has no key can make none, and nothing is stored for it. */
export function createEndpointChecks(sealer: Sealer, clock: Clock): EndpointChecks {
  /** Proofs that were used, each until it is invalid anyway. */
  const used = new Map<string, number>();

  function issuedAt(sealed: Buffer): number {
    try {
      const opened = Buffer.from(sealer.open(sealed, CONTEXT));
      return opened.length === TIME_BYTES ? opened.readDoubleBE() : Number.NaN;
    } catch {
      return Number.NaN;
    }
  }

  function isFirstUse(proof: string, now: number): boolean {
    for (const [other, until] of used) if (until < now) used.delete(other);
    if (used.has(proof) || used.size >= MOST_REMEMBERED) return false;
    used.set(proof, now + 2 * VALID_MS);
    return true;
  }

  return {
    newProof() {
      const time = Buffer.alloc(TIME_BYTES);
      time.writeDoubleBE(clock.now().getTime());
      return { [HEADER]: Buffer.from(sealer.seal(time, CONTEXT)).toString("base64url") };
    },
    isOne(headers) {
      const [text = "", ...others] = headers[HEADER] ?? [];
      if (text === "" || others.length > 0 || text.length > LONGEST_PROOF) return false;
      const sealed = fromCanonicalBase64url(text);
      if (sealed === undefined) return false;
      const now = clock.now().getTime();
      // Not a number fails this too.
      if (!(Math.abs(now - issuedAt(sealed)) <= VALID_MS)) return false;
      return isFirstUse(text, now);
    },
  };
}

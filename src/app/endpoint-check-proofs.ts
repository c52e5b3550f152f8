import { type Clock, fromCanonicalBase64url } from "../domain/index.ts";
import type { DistinctHeaders } from "../sources/index.ts";
import type { Encryptor } from "../system/index.ts";

const HEADER = "x-oncehook-endpoint-check";
const CONTEXT = "endpoint-check";
/** Longer than a check takes, with what the clocks of two machines may differ. */
const VALID_MS = 60_000;
const TIME_BYTES = 8;
const MAX_PROOF_LENGTH = 128;
/** Only one check runs at a time in a process, with a request for each address. */
const MAX_REMEMBERED = 1_024;

/** Recognises this receiver's requests to its own addresses. A proof is the encrypted and authenticated time: it cannot be made without the key, and needs no storage. */
export function createEndpointCheckProofs(encryptor: Encryptor, clock: Clock) {
  /** Proofs that were used, each until it is invalid anyway. */
  const used = new Map<string, number>();

  function issuedAt(encrypted: Buffer): number {
    try {
      const opened = Buffer.from(encryptor.decrypt(encrypted, CONTEXT));
      return opened.length === TIME_BYTES ? opened.readDoubleBE() : Number.NaN;
    } catch {
      return Number.NaN;
    }
  }

  function isFirstUse(proof: string, now: number): boolean {
    for (const [other, until] of used) if (until < now) used.delete(other);
    if (used.has(proof) || used.size >= MAX_REMEMBERED) return false;
    used.set(proof, now + 2 * VALID_MS);
    return true;
  }

  return {
    /** Headers for one request, by which any process with the same ENCRYPTION_KEY recognises it. */
    issue(): Readonly<Record<string, string>> {
      const time = Buffer.alloc(TIME_BYTES);
      time.writeDoubleBE(clock.now().getTime());
      return { [HEADER]: Buffer.from(encryptor.encrypt(time, CONTEXT)).toString("base64url") };
    },
    accept(headers: DistinctHeaders): boolean {
      const [text = "", ...others] = headers[HEADER] ?? [];
      if (text === "" || others.length > 0 || text.length > MAX_PROOF_LENGTH) return false;
      const encrypted = fromCanonicalBase64url(text);
      if (encrypted === undefined) return false;
      const now = clock.now().getTime();
      // Not a number fails this too.
      if (!(Math.abs(now - issuedAt(encrypted)) <= VALID_MS)) return false;
      return isFirstUse(text, now);
    },
  };
}

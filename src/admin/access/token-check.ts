import type { Clock, Log } from "../../domain/index.ts";
import type { Role, Store, StoredSession } from "../../store/index.ts";
import { createBearerCheck } from "../../verify/index.ts";
import type { Access } from "./access.ts";
import { createRefusals, type NoteRefusal } from "./refusals.ts";
import { createTries, type Tries } from "./tries.ts";

export type TokenVerdict =
  | { readonly verdict: "right"; readonly role: Role; readonly begunWith: string }
  | { readonly verdict: "wrong" }
  | { readonly verdict: "too many"; readonly waitSeconds: number };

/** Judges tokens, wherever they are sent: one count of wrong ones for each address. */
export interface TokenCheck {
  /** Judges a token, in constant time and only so often. */
  judge(token: string, remoteAddress: string): TokenVerdict;
  readonly tries: Tries;
  readonly noteRefusal: NoteRefusal;
  /** The configured tokens. */
  readonly known: readonly Pick<StoredSession, "begunWith" | "role">[];
}

export function createTokenCheck({
  access,
  store,
  clock,
  log,
}: {
  readonly access: Pick<Access, "tokens" | "fingerprint" | "rateKey">;
  readonly store: Pick<Store, "audit">;
  readonly clock: Clock;
  readonly log: Log;
}): TokenCheck {
  const known = access.tokens.map(({ token, role }) => {
    return { role, begunWith: access.fingerprint(`token\n${token}`), isIt: createBearerCheck(token) };
  });
  const tries = createTries(clock);
  const noteRefusal = createRefusals(store.audit, clock, log);

  function judge(token: string, remoteAddress: string): TokenVerdict {
    const key = access.rateKey(remoteAddress);
    const waitSeconds = tries.waitOf(key);
    if (waitSeconds > 0) return { verdict: "too many", waitSeconds };
    // All of them are looked at, so that the time does not tell which one it was.
    const [found] = known.filter(({ isIt }) => isIt(`Bearer ${token}`));
    if (found !== undefined) return { verdict: "right", role: found.role, begunWith: found.begunWith };
    if (tries.wrong(key, token)) noteRefusal({ remoteAddress, who: null, reason: "wrong token" });
    return { verdict: "wrong" };
  }

  return { judge, tries, noteRefusal, known };
}

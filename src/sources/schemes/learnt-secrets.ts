import { randomBytes } from "node:crypto";
import type { Scheme } from "./scheme.ts";

/** The learnt secrets of a platform that chooses them itself. */
export interface SecretLookup {
  /** The newest first; the same array until there are others. */
  readonly learntSecrets: () => readonly string[];
  /** Looks whether another process has learnt or forgotten some; undefined where it looked a moment ago. It never rejects. */
  readonly lookForSecrets: () => Promise<void> | undefined;
}

const NONE: readonly string[] = [];
/** A random one: requests are refused as ever until a secret is known. */
const unknownSecret = () => randomBytes(32).toString("hex");

/** Whether a scheme can be made with a secret that any sender may have chosen. */
export function isUsable(secret: string, make: (secrets: readonly string[]) => unknown): boolean {
  try {
    make([secret]);
    return true;
  } catch {
    return false;
  }
}

/**
 * A scheme whose secrets may come later: the configured ones, then those that were learnt. A signature that matches
 * none may be made with one that another process has just learnt. So it is verified again once that was looked up.
 * @param lookup left out before the start, when no secret is learnt
 * @param configured may be none
 */
export function learningScheme(
  lookup: SecretLookup | undefined,
  configured: readonly string[],
  make: (secrets: readonly string[]) => Scheme,
): Scheme {
  const first = make(configured.length > 0 ? configured : [unknownSecret()]);
  let learntBefore = NONE;
  let scheme = first;

  function current(): Scheme {
    const learnt = lookup?.learntSecrets() ?? NONE;
    if (learnt === learntBefore) return scheme;
    learntBefore = learnt;
    const secrets = [...configured, ...learnt.filter((secret) => isUsable(secret, make))];
    scheme = secrets.length === 0 ? first : make(secrets);
    return scheme;
  }

  return {
    challenge: first.challenge,
    ...(first.isCostly !== undefined && { isCostly: first.isCostly }),
    verify(request) {
      const result = current().verify(request);
      if (result instanceof Promise || !("code" in result) || result.code !== "signature_mismatch") return result;
      const before = learntBefore;
      const judgeAgain = (): ReturnType<Scheme["verify"]> => {
        const learnt = lookup?.learntSecrets();
        return learnt === before ? result : current().verify(request);
      };
      // Its memory counts as unverified while the database is asked.
      const looked = request.bodyReservation?.mayWait() === false ? undefined : lookup?.lookForSecrets();
      return looked?.then(judgeAgain) ?? result;
    },
  };
}

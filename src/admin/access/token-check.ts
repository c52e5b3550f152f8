import { createHash } from "node:crypto";
import type { Clock, Log } from "../../domain/index.ts";
import { createWindowLimit } from "../../domain/index.ts";
import { createBearerCheck } from "../../sources/index.ts";
import type { Audit, Role, Store, StoredSession } from "../../store/index.ts";
import type { AdminAccess } from "./access.ts";

export type TokenCheckResult =
  | { readonly verdict: "right"; readonly role: Role; readonly credentialFingerprint: string }
  | { readonly verdict: "wrong" }
  | { readonly verdict: "too many"; readonly waitSeconds: number };

/** Judges tokens, wherever they are sent: one count of wrong ones for each address. */
export interface TokenCheck {
  /** Judges a token, in constant time and only so often. */
  check(token: string, remoteAddress: string): TokenCheckResult;
  readonly loginThrottle: LoginThrottle;
  readonly recordRefusal: RecordRefusal;
  /** The configured tokens. */
  readonly configured: readonly Pick<StoredSession, "credentialFingerprint" | "role">[];
}

export function createTokenCheck({
  access,
  store,
  clock,
  log,
}: {
  readonly access: Pick<AdminAccess, "tokens" | "fingerprint" | "rateKey">;
  readonly store: Pick<Store, "audit">;
  readonly clock: Clock;
  readonly log: Log;
}): TokenCheck {
  const configured = access.tokens.map(({ token, role }) => {
    return {
      role,
      credentialFingerprint: access.fingerprint(`token\n${token}`),
      isIt: createBearerCheck(token),
    };
  });
  const loginThrottle = createLoginThrottle(clock);
  const recordRefusal = createRefusalRecorder(store.audit, clock, log);

  function check(token: string, remoteAddress: string): TokenCheckResult {
    const key = access.rateKey(remoteAddress);
    const waitSeconds = loginThrottle.secondsToWait(key);
    if (waitSeconds > 0) return { verdict: "too many", waitSeconds };
    // All of them are looked at, so that the time does not tell which one it was.
    const [found] = configured.filter(({ isIt }) => isIt(`Bearer ${token}`));
    if (found !== undefined)
      return { verdict: "right", role: found.role, credentialFingerprint: found.credentialFingerprint };
    if (loginThrottle.recordFailure(key, token))
      recordRefusal({ remoteAddress, actor: null, reason: "wrong token" });
    return { verdict: "wrong" };
  }

  return { check, loginThrottle, recordRefusal, configured };
}

/** How many different wrong tokens one address may send in a minute. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** Wrong tokens, by the address that they came from. */
export interface LoginThrottle {
  /** Seconds until the address may try again; 0 where it may now. */
  secondsToWait(address: string): number;
  /** Counts a wrong token. @returns false for one that has been counted already */
  recordFailure(address: string, token: string): boolean;
}

interface FailureWindow {
  readonly endsAt: number;
  readonly digests: Set<string>;
}

/**
 * The same wrong token counts once: a script that repeats an outdated token must not lock out its address, and a guessing
 * attacker never repeats one.
 */
function createLoginThrottle(clock: Clock): LoginThrottle {
  const windows = new Map<string, FailureWindow>();
  const current = (address: string, now: number): FailureWindow | undefined => {
    const window = windows.get(address);
    // A clock that was set back ends it too: it would last for hours otherwise.
    if (window === undefined || (now < window.endsAt && now >= window.endsAt - WINDOW_MS)) return window;
    windows.delete(address);
    return undefined;
  };
  return {
    secondsToWait(address) {
      const now = clock.now().getTime();
      const window = current(address, now);
      if (window === undefined || window.digests.size < MAX_FAILURES) return 0;
      return Math.ceil((window.endsAt - now) / 1000);
    },
    recordFailure(address, token) {
      const now = clock.now().getTime();
      let window = current(address, now);
      if (window === undefined) {
        const [oldest] = windows.keys();
        if (windows.size >= MAX_ADDRESSES && oldest !== undefined) windows.delete(oldest);
        window = { endsAt: now + WINDOW_MS, digests: new Set() };
        windows.set(address, window);
      }
      const digest = createHash("sha256").update(token).digest("base64");
      if (window.digests.has(digest)) return false;
      window.digests.add(digest);
      return true;
    },
  };
}

/** How many rows strangers may cause in an hour, in each process. */
const MAX_ROWS_PER_HOUR = 60;
const HOUR_MS = 3_600_000;

interface Refusal {
  readonly remoteAddress: string;
  /** Null if unauthenticated. */
  readonly actor: string | null;
  /** Fixed words, and nothing that a stranger wrote. */
  readonly reason: string;
  /** What a known actor may not do. */
  readonly attempt?: { readonly role: Role; readonly action: string; readonly target: string | null };
}

/** Tells the log and the audit log of those who were not let in, or may not do what they tried. It waits for nothing, and never throws. */
export type RecordRefusal = (refusal: Refusal) => void;

/** Bounded, since any client can cause refusals: the next row says how many were left out before it. */
function createRefusalRecorder(audit: Audit, clock: Clock, log: Log): RecordRefusal {
  const mayWrite = createWindowLimit(MAX_ROWS_PER_HOUR, HOUR_MS);
  let leftOut = 0;
  return ({ remoteAddress, actor, reason, attempt }) => {
    const at = clock.now();
    if (!mayWrite(at)) {
      leftOut += 1;
      return;
    }
    const detail = { reason, ...(leftOut === 0 ? {} : { left_out_before: leftOut }) };
    leftOut = 0;
    const what = attempt ?? { role: null, action: "session.refused", target: null };
    log.warn({ address: remoteAddress, actor, ...what, ...detail }, "the admin API refused a request");
    audit
      .begin({ at, actor, remoteAddress, ...what, detail, outcome: "refused" })
      .catch((error: unknown) => log.error({ err: error }, "the audit log could not be written"));
  };
}

/** Tells the log alone, so many times an hour. @param reason fixed words */
export type LogUnknownFlow = (remoteAddress: string, reason: string) => void;

/** For requests that any page can make a browser send. */
export function createUnknownFlowLogger(clock: Clock, log: Log): LogUnknownFlow {
  const mayTell = createWindowLimit(MAX_ROWS_PER_HOUR, HOUR_MS);
  return (address, reason) => {
    if (!mayTell(clock.now())) return;
    log.warn({ address, reason }, "a browser returned from the provider without a flow of this receiver");
  };
}

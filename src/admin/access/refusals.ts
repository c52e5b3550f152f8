import { atMost, type Clock, type Log } from "../../domain/index.ts";
import type { AuditStore, Role } from "../../store/index.ts";

/** How many rows strangers may cause in an hour, in each process. */
const MOST_ROWS = 60;
const HOUR_MS = 3_600_000;

export interface Refusal {
  readonly remoteAddress: string;
  /** Null for somebody who is not known. */
  readonly who: string | null;
  /** Fixed words, and nothing that a stranger wrote. */
  readonly reason: string;
  /** What somebody who is known may not do. */
  readonly attempt?: { readonly role: Role; readonly action: string; readonly subject: string | null };
}

/** Tells the log and the audit log of those who were not let in, or may not do what they tried. It waits for nothing, and never throws. */
export type NoteRefusal = (refusal: Refusal) => void;

/** Bounded, since anybody can be refused: the next row says how many were left out before it. */
export function createRefusals(audit: AuditStore, clock: Clock, log: Log): NoteRefusal {
  const mayWrite = atMost(MOST_ROWS, HOUR_MS);
  let leftOut = 0;
  return ({ remoteAddress, who, reason, attempt }) => {
    const at = clock.now();
    if (!mayWrite(at)) {
      leftOut += 1;
      return;
    }
    const detail = { reason, ...(leftOut === 0 ? {} : { left_out_before: leftOut }) };
    leftOut = 0;
    const what = attempt ?? { role: null, action: "session.refused", subject: null };
    log.warn({ address: remoteAddress, who, ...what, ...detail }, "the admin API has refused somebody");
    audit
      .begin({ at, who, remoteAddress, ...what, detail, outcome: "refused" })
      .catch((error: unknown) => log.error({ err: error }, "the audit log could not be written"));
  };
}

/** Tells the log alone, so many times an hour. @param reason fixed words */
export type NoteStranger = (remoteAddress: string, reason: string) => void;

/** For what anybody's page can have anybody's browser do. */
export function createStrangers(clock: Clock, log: Log): NoteStranger {
  const mayTell = atMost(MOST_ROWS, HOUR_MS);
  return (address, reason) => {
    if (!mayTell(clock.now())) return;
    log.warn({ address, reason }, "a browser came back from the provider without a flow that was begun here");
  };
}

import type { Log } from "../domain/index.ts";
import type { Metrics } from "../observe/index.ts";
import type { Observer } from "../receive/index.ts";
import type { Credential } from "../verify/index.ts";

/** What the receive sequence reports, as metrics and warnings. */
export function createObserver(
  metrics: Metrics,
  noteCredential: (credential: Credential) => void,
  log: Log,
): Observer {
  return {
    attempted: (kind, outcome) => metrics.attempt(kind, outcome),
    credentialsUsed(credentials) {
      for (const credential of credentials) {
        const secret = credential.index === 0 ? "current" : "previous";
        metrics.credentialUsed({ method: credential.method, secret });
        noteCredential(credential);
      }
    },
    bodyMismatch({ source, eventId }) {
      metrics.bodyMismatch();
      log.warn(
        { source, event_id: eventId },
        "another body came under an event_id that was already processed; it was answered already_processed",
      );
    },
    typeMismatch({ source, eventId }, header, body) {
      metrics.typeMismatch();
      log.warn(
        { source, event_id: eventId, header, body },
        "X-Event-Type, which is not signed, differs from event_type in the body; the header decided",
      );
    },
  };
}

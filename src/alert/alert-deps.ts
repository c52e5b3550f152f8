import type { Clock, Log } from "../domain/index.ts";
import type { AlertKind, AlertStore } from "../store/index.ts";
import type { Arrivals } from "./arrivals.ts";

export interface AlertDeps {
  readonly store: AlertStore;
  readonly arrivals: Arrivals;
  readonly kinds: ReadonlySet<AlertKind>;
  /** How many callbacks must be missing before a type counts as silent. */
  readonly silenceFloor: number;
  /** Whether an event type is handled here; the silence of another one says nothing. */
  readonly isHandled: (eventType: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

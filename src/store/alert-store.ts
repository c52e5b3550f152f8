import type { JsonObject } from "../domain/index.ts";

export type AlertKind = "failures" | "signatures" | "silence";

/** What an alert is about; `subject` is an event type, or empty where it is about the whole source. */
export interface AlertKey {
  readonly kind: AlertKind;
  readonly source: string;
  readonly subject: string;
}

export interface StoredAlert extends AlertKey {
  readonly isOpen: boolean;
  /** From 1; grows with each change. */
  readonly number: number;
  /** When it was opened last. */
  readonly since: Date;
  /** The number of failures that was told last; 0 for the other kinds. */
  readonly told: number;
  readonly toldAt: Date;
}

export interface AlertChange extends AlertKey {
  /** The number of the state that was judged; 0 where there was none. */
  readonly from: number;
  readonly isOpen: boolean;
  readonly since: Date;
  readonly told: number;
  readonly toldAt: Date;
  /** Written to the outbox in the same transaction. */
  readonly message?: { readonly topic: string; readonly payload: JsonObject };
}

export interface ArrivalKey {
  readonly source: string;
  readonly subject: string;
}

export interface Arrival extends ArrivalKey {
  readonly count: number;
}

/** Between which slots something has come. */
export interface ArrivalSubject extends ArrivalKey {
  readonly firstSlot: number;
  readonly lastSlot: number;
}

export interface SlotCount {
  readonly slot: number;
  readonly count: number;
}

export interface Exhausted {
  readonly types: readonly { readonly source: string; readonly eventType: string; readonly count: number }[];
  /** False where there were more than were looked at, so that a type that is missing may still have some. */
  readonly isComplete: boolean;
}

/** What alerts are judged by, counted in slots of five minutes, and what has been told of them. */
export interface AlertStore {
  /** True for one caller in `everyMs`, whatever the number of processes. */
  takeTurn(now: Date, everyMs: number): Promise<boolean>;
  /** Adds to the counts of a slot, all of them or none. */
  addArrivals(slot: number, arrivals: readonly Arrival[]): Promise<void>;
  subjects(): Promise<ArrivalSubject[]>;
  /** The slots in which something came, from `from` up to but not including `to`. */
  arrivals(key: ArrivalKey, from: number, to: number): Promise<SlotCount[]>;
  /** Deletes the counts before a slot. */
  forget(before: number): Promise<void>;
  /** How many exhausted failures there are by type, among `limit` of them. */
  exhausted(limit: number): Promise<Exhausted>;
  list(): Promise<StoredAlert[]>;
  /** False, and nothing is written, where somebody else has changed it since it was judged. */
  change(change: AlertChange): Promise<boolean>;
}

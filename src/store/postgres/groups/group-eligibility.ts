/**
 * Points for a late run and for one in time. A type is excluded from groups when more than one event in six is late. A busy
 * machine makes a quick handler late now and then. That must not exclude its type: under load groups save most.
 */
const LATE_POINTS = 1;
const IN_TIME_POINTS = -0.2;
const EXCLUDE_FROM = 3;
/** After this time events of the type join groups again. */
const EXCLUDED_MS = 1_000;

/** Of types, and of the types of tenants, that were late lately. */
const MAX_TYPES = 10_000;

/** Not for good: a handler may send dependent statements for some events only. */
const DEPENDENT_MS = 60_000;

/** Which types of events have handlers that do not fit into a group, as far as was seen lately. */
export class GroupEligibility {
  readonly #types = new Map<string, { points: number; until: number }>();
  /** Types for sequential groups, and until when. */
  readonly #dependent = new Map<string, number>();

  needsOwnTransaction(...types: string[]): boolean {
    return types.some((type) => (this.#types.get(type)?.until ?? 0) > performance.now());
  }

  mustBeSequential(type: string): boolean {
    return (this.#dependent.get(type) ?? 0) > performance.now();
  }

  /** Notes that a handler sends a statement after an answer. */
  markDependent(type: string): void {
    this.#dependent.set(type, performance.now() + DEPENDENT_MS);
  }

  markInTime(type: string): void {
    if (this.#types.has(type)) this.#count(type, IN_TIME_POINTS);
  }

  markLate(type: string): void {
    this.#count(type, LATE_POINTS);
  }

  /** Notes that a handler does what none may do in a group: what it does, it does always. */
  markUnsupported(type: string): void {
    this.#count(type, EXCLUDE_FROM);
  }

  #count(type: string, points: number): void {
    if (this.#types.size > MAX_TYPES) this.#types.clear();
    const known = this.#types.get(type) ?? { points: 0, until: 0 };
    known.points = Math.max(0, known.points + points);
    if (known.points >= EXCLUDE_FROM) {
      known.until = performance.now() + EXCLUDED_MS;
      // One more late run excludes it again.
      known.points = EXCLUDE_FROM - LATE_POINTS;
    }
    this.#types.set(type, known);
  }
}

/**
 * What one run that had to leave counts, and what one in time takes back: a type is listed when more than one event in
 * six had to leave. A busy machine makes a quick handler late now and then, and must not exclude it from groups: under
 * load they save most.
 */
const LEFT_COUNTS = 1;
const IN_TIME_COUNTS = -0.2;
const LISTED_FROM = 3;
/** After this time an event of the type is tried in company again. */
const LISTED_MS = 1_000;

/** A handler may do so for some events alone. */
const DEPENDENT_MS = 60_000;

interface Points {
  points: number;
  until: number;
}

/** Which types of events have handlers that do not fit into a group, as far as was seen lately. */
export class GroupEligibility {
  readonly #types = new Map<string, Points>();
  /** Types for sequential groups, and until when. */
  readonly #dependent = new Map<string, number>();

  mustRunAlone(type: string): boolean {
    return (this.#types.get(type)?.until ?? 0) > performance.now();
  }

  mustBeSequential(type: string): boolean {
    return (this.#dependent.get(type) ?? 0) > performance.now();
  }

  /** Notes that a handler sends a statement after an answer. */
  markDependent(type: string): void {
    this.#dependent.set(type, performance.now() + DEPENDENT_MS);
  }

  markInTime(type: string): void {
    if (this.#types.has(type)) this.#count(type, IN_TIME_COUNTS);
  }

  markLate(type: string): void {
    this.#count(type, LEFT_COUNTS);
  }

  /** Notes that a handler does what none may do in a group: what it does, it does always. */
  markUnsupported(type: string): void {
    this.#count(type, LISTED_FROM);
  }

  #count(type: string, points: number): void {
    const known = this.#types.get(type) ?? { points: 0, until: 0 };
    known.points = Math.max(0, known.points + points);
    if (known.points >= LISTED_FROM) {
      known.until = performance.now() + LISTED_MS;
      // Once more lists it again.
      known.points = LISTED_FROM - LEFT_COUNTS;
    }
    this.#types.set(type, known);
  }
}

/**
 * What one run that had to leave counts, and what one in time takes back: listed is whoever leaves more often than
 * once in six. A busy machine makes a quick handler late now and then, and must not cost it its company: that is
 * when company is cheapest.
 */
const LEFT_COUNTS = 1;
const IN_TIME_COUNTS = -0.2;
const LISTED_FROM = 3;
/** After this time an event of the type is tried in company again. */
const LISTED_MS = 1_000;

interface Points {
  points: number;
  until: number;
}

/** Which types of events have handlers that do not fit into a group, as far as was seen lately. */
export class Temper {
  readonly #types = new Map<string, Points>();

  isLoner(type: string): boolean {
    return (this.#types.get(type)?.until ?? 0) > performance.now();
  }

  inTime(type: string): void {
    if (this.#types.has(type)) this.#count(type, IN_TIME_COUNTS);
  }

  late(type: string): void {
    this.#count(type, LEFT_COUNTS);
  }

  /** Notes that a handler does what none may do in a group: what it does, it does always. */
  misfits(type: string): void {
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

import type { Audit } from "../driver/audit.ts";
import type { Place, Ran } from "./round.ts";

/** A database is held against the book after so many faults; then a fresh one is begun. */
const AT_A_TIME = 25;

/** Does a round's faults in parts, each with a database of its own. */
export async function inParts(place: Place, part: (count: number) => Promise<Audit>): Promise<Ran> {
  const audits: Audit[] = [];
  for (let done = 0; done < place.count; done += AT_A_TIME) {
    const count = Math.min(AT_A_TIME, place.count - done);
    audits.push(await part(count));
    place.say(`${done + count} of ${place.count}`);
  }
  return { count: place.count, audits };
}

import type { Load } from "../load/wrk.ts";
import type { Case } from "./case.ts";

const MIN_OF_PACE = 0.95;

type Expectation = Pick<Case, "traffic" | "mayRefuse">;

/** Answers that the case expects, each of which counts as a callback. */
export function answered(load: Load, { traffic, mayRefuse }: Expectation): number {
  if (traffic === "bad-signatures") return load.status;
  return mayRefuse ? load.accepted : load.requests - load.status;
}

/** Everything that makes a round count for nothing. `mustBeFresh`: an event that came twice would be cheaper. */
export function faultsOf(load: Load, expectation: Expectation, mustBeFresh: boolean): string[] {
  const { traffic, mayRefuse } = expectation;
  const faults: string[] = [];
  if (load.requests === 0) faults.push("no answer at all");
  const sockets = [load.connect, load.read, load.write].reduce((sum, count) => sum + count, 0);
  if (sockets > 0) faults.push(`${sockets} socket errors`);
  if (load.timeout > 0) faults.push(`${load.timeout} timeouts`);
  const unexpected = unexpectedAnswers(load, traffic, mayRefuse);
  if (unexpected > 0) faults.push(`${unexpected} unexpected answers`);
  if (mustBeFresh && load.wrapped > 0) faults.push("the events ran out and were sent again");
  return faults;
}

/** A server that does not keep up with half of its best rate is not measured at that rate. */
export function paceFaults(load: Load, rate: number | undefined): string[] {
  const held = load.requests / load.seconds;
  if (rate === undefined || held >= rate * MIN_OF_PACE) return [];
  return [`it took ${Math.round(held)} a second of ${Math.round(rate)}`];
}

function unexpectedAnswers(load: Load, traffic: Expectation["traffic"], mayRefuse: boolean): number {
  if (traffic === "bad-signatures") return load.requests - load.status;
  return mayRefuse ? load.other : load.status;
}

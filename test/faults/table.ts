import { type Ended, NOT_ASKED } from "./run-rounds.ts";

const HEAD = ["round", "faults", "deliveries", "events", "acknowledged", "lost", "doubled", "seconds", "result"];

/** What all of it came to, and by their names all that was not run. */
export function verdictOf(ended: readonly Ended[]): string {
  const namesOf = (some: readonly Ended[]) => some.map(({ round }) => round.name).join(", ");
  const wrong = ended.filter(({ isRight }) => isRight === false);
  const right = ended.filter(({ isRight }) => isRight === true).length;
  const open = ended.filter(({ isRight }) => isRight === undefined);
  const all = wrong.length === 0 ? "all of them right: nothing lost, nothing doubled" : `WRONG: ${namesOf(wrong)}`;
  const lines = [`${right + wrong.length} of ${ended.length} rounds were run; ${all}.`];
  if (open.length > 0) lines.push(`Not run: ${namesOf(open)}.`);
  return lines.join("\n");
}

/**
 * What was counted, as a Markdown table; what was not run says so. `faults` were brought about (or requests sent, or seconds
 * passed, as the title says); the deliveries and events are those of the platform that sends meanwhile.
 */
export function tableOf(ended: readonly Ended[]): string {
  const asked = ended.filter(({ notRun }) => notRun !== NOT_ASKED);
  return [lineOf(HEAD), lineOf(HEAD.map(() => "---")), ...asked.map(rowOf), ...figuresOf(ended)].join("\n");
}

/** The table's row of one round. */
export function rowOf({ round, ran, seconds, notRun, isRight }: Ended): string {
  if (ran === undefined) {
    const why = isRight === false ? "failed" : `not run: ${notRun}`;
    return lineOf([round.title, why, ...Array(6).fill(""), mark(isRight)]);
  }
  const sum = (of: "deliveries" | "events" | "acknowledged" | "lost" | "doubled"): string =>
    ran.audits.reduce((total, audit) => total + audit[of], 0).toLocaleString("en");
  return lineOf([
    round.title,
    ran.count.toLocaleString("en"),
    sum("deliveries"),
    sum("events"),
    sum("acknowledged"),
    sum("lost"),
    sum("doubled"),
    seconds.toFixed(0),
    mark(isRight),
  ]);
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** What rounds counted of their own. */
export function figuresOf(ended: readonly Ended[]): string[] {
  const lines = ended.flatMap(({ round, ran }) => {
    const figures = Object.entries(ran?.figures ?? {});
    if (figures.length === 0) return [];
    return [`- ${round.title}: ${figures.map(([name, value]) => `${name} ${value}`).join(", ")}`];
  });
  return lines.length === 0 ? [] : ["", ...lines];
}

function mark(isRight: boolean | undefined): string {
  if (isRight === undefined) return "";
  return isRight ? "right" : "WRONG";
}

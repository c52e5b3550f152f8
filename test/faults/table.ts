import type { Ended } from "./run-rounds.ts";

const HEAD = [
  "round",
  "brought about",
  "deliveries",
  "events",
  "acknowledged",
  "lost",
  "doubled",
  "seconds",
  "",
];

/** What was counted, as a Markdown table; what was not run says so. */
export function tableOf(ended: readonly Ended[]): string {
  const rows = ended.map(({ round, ran, seconds, notRun, isRight }) => {
    if (ran === undefined) {
      return [
        round.title,
        isRight === false ? "failed" : `not run: ${notRun}`,
        ...Array(6).fill(""),
        mark(isRight),
      ];
    }
    const sum = (of: "deliveries" | "events" | "acknowledged" | "lost" | "doubled"): string =>
      ran.audits.reduce((total, audit) => total + audit[of], 0).toLocaleString("en");
    return [
      round.title,
      ran.count.toLocaleString("en"),
      sum("deliveries"),
      sum("events"),
      sum("acknowledged"),
      sum("lost"),
      sum("doubled"),
      seconds.toFixed(0),
      mark(isRight),
    ];
  });
  const lines = [HEAD, HEAD.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  return [...lines, ...figuresOf(ended)].join("\n");
}

function figuresOf(ended: readonly Ended[]): string[] {
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

import { isShortTrial, type Results } from "./results.ts";
import { type Figure, type Summary, summarise } from "./summary.ts";

const WIDTH = 760;
const LABEL_WIDTH = 240;
const BAR_WIDTH = 400;
const ROW = 22;
const GAP = 44;

/** What a case is about, where that is not the rate. */
const PLOTTED: Record<string, { figure: Figure; unit: string }> = {
  latency: { figure: "p99", unit: "ms p99" },
  memory: { figure: "rss", unit: "MB" },
  startup: { figure: "startMs", unit: "ms" },
};

/** The reader's own choice of dark or light counts, as it does for the page around it. */
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600}.other{fill:#8c959f}.own{fill:#0969da}
.quiet{fill:#59636e}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.other{fill:#6e7681}.own{fill:#4493f8}.quiet{fill:#9198a1}}`;

/** One block of horizontal bars for each case; ours have a colour of their own. */
export function plot(results: Results): string {
  const summaries = summarise(results.measurements);
  const { rounds, seconds } = results.options;
  const trial = isShortTrial(results.options) ? ", a short trial" : "";
  const heading = `Medians of ${rounds} ${rounds === 1 ? "round" : "rounds"} of ${seconds} s${trial}, ${results.date.slice(0, 10)}`;
  const parts = [text(8, 20, heading, "quiet")];
  let y = 48;
  for (const { name, title } of results.cases) {
    const { figure, unit } = PLOTTED[name] ?? { figure: "rate", unit: "callbacks/s" };
    const bars = summaries.filter((one) => one.case === name && one.medians[figure] !== undefined);
    if (bars.length === 0) continue;
    parts.push(text(8, y, `${title}, ${unit}`, "title"), ...block(bars, figure, y + 12));
    y += bars.length * ROW + GAP;
  }
  const size = `width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">\n<title>${heading}</title>\n<style>${STYLE}</style>\n${parts.join("\n")}\n</svg>\n`;
}

function block(bars: readonly Summary[], figure: Figure, top: number): string[] {
  const most = Math.max(...bars.map(({ medians }) => medians[figure] ?? 0), Number.MIN_VALUE);
  return bars.flatMap(({ entrant, medians }, index) => {
    const value = medians[figure] ?? 0;
    const y = top + index * ROW;
    const width = Math.max(1, (value / most) * BAR_WIDTH);
    const kind = entrant.startsWith("oncehook") ? "own" : "other";
    const shown = value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
    return [
      text(8, y + 12, entrant, ""),
      `<rect class="${kind}" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 6}" rx="2"/>`,
      text(LABEL_WIDTH + width + 8, y + 12, shown, "quiet"),
    ];
  });
}

function text(x: number, y: number, content: string, kind: string): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${escaped}</text>`;
}

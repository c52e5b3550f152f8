/**
 * What `import("oncehook")`, and each other door of the built package, costs a process: `npm run build:package`, then
 * `node scripts/measure-import.ts`. The smallest of the runs is what an idle machine takes.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { doors } from "./doors.ts";

const RUNS = 25;
const EMPTY = "data:text/javascript,1";

interface Cost {
  readonly cpuMs: number;
  readonly rssMb: number;
}

function costOf(url: string): Cost {
  const runs = Array.from({ length: RUNS }, () => {
    const program = `
      const { rss } = process.memoryUsage();
      const before = process.cpuUsage();
      await import(${JSON.stringify(url)});
      const { user, system } = process.cpuUsage(before);
      console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: (process.memoryUsage().rss - rss) / 1e6 }));`;
    return JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
    ) as Cost;
  });
  return {
    cpuMs: Math.min(...runs.map(({ cpuMs }) => cpuMs)),
    rssMb: Math.min(...runs.map(({ rssMb }) => rssMb)),
  };
}

const nothing = costOf(EMPTY);
process.stdout.write(`Node ${process.version}, the smallest of ${RUNS} runs, less those of an empty module\n`);
for (const { specifier, name } of doors(fileURLToPath(new URL("../package.json", import.meta.url)))) {
  const { cpuMs, rssMb } = costOf(new URL(`../dist/${name}.js`, import.meta.url).href);
  const [cpu, memory] = [cpuMs - nothing.cpuMs, rssMb - nothing.rssMb].map((value) => value.toFixed(1).padStart(6));
  process.stdout.write(`${specifier.padEnd(24)}${cpu} ms of CPU ${memory} MB\n`);
}

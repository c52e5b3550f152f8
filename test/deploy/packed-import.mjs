/**
 * What imports of the package change and cost, one after the other in one process.
 * Usage: <runtime> packed-import.mjs import|require <name>…
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , kind, ...names] = process.argv;
const from = createRequire(join(process.cwd(), "index.js"));
const state = () => ({
  resources: process.getActiveResourcesInfo?.().filter((one) => !/TTYWrap|PipeWrap/.test(one)) ?? [],
  listeners: process.eventNames().map((event) => `${String(event)} ${process.listenerCount(event)}`),
  stackTraceLimit: Error.stackTraceLimit,
  globals: Object.getOwnPropertyNames(globalThis).toSorted(),
  symbols: Object.getOwnPropertySymbols(globalThis).map(String),
  environment: Object.keys(process.env).toSorted(),
});

async function costOf(name) {
  const before = state();
  const { rss } = process.memoryUsage();
  const cpu = process.cpuUsage();
  const loaded =
    kind === "require" ? from(name) : await import(pathToFileURL(from.resolve(name)).href.replace(/\.cjs$/, ".js"));
  const { user, system } = process.cpuUsage(cpu);
  const used = { cpuMs: (user + system) / 1000, rssMb: (process.memoryUsage().rss - rss) / 1e6 };
  const after = state();
  const differing = Object.keys(before).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  const changed = Object.fromEntries(
    differing.map((key) => [key, [before[key], after[key]].map((one) => (Array.isArray(one) ? one.join(" ") : one))]),
  );
  return { exported: Object.keys(loaded), ...used, changed };
}

const costs = [];
for (const name of names) costs.push(await costOf(name));
process.stdout.write(JSON.stringify(costs));

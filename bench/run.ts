/** `npm run bench`: everything side by side on one machine. docs/performance.md tells the method. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTENDERS } from "./contenders/index.ts";
import { wrkVersion } from "./load/wrk.ts";
import { machineFacts } from "./machine/machine-facts.ts";
import { type Postgres, startPostgres } from "./machine/postgres.ts";
import { choose, type Options, readOptions, USAGE } from "./options.ts";
import { plot } from "./report/plot.ts";
import type { Results } from "./report/results.ts";
import { report } from "./report/tables.ts";
import { writeDocs } from "./report/write-docs.ts";
import { casesOf } from "./rounds/case.ts";
import { runCases } from "./rounds/run-cases.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CANNOT = 2;
const INTERRUPTED = 130;

const say = (line: string) => process.stderr.write(`${line}\n`);

// The servers end with this process; see startServer.
process.once("SIGINT", () => process.exit(INTERRUPTED));
process.once("SIGTERM", () => process.exit(INTERRUPTED));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args, join(HERE, "results/latest.json"));
    if (options.writesDocs) {
      writeDocs(JSON.parse(readFileSync(options.out, "utf8")), new URL("../docs/", import.meta.url));
      return 0;
    }
    return await bench(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return CANNOT;
  }
}

async function bench(options: Options): Promise<number> {
  const cases = choose("case", casesOf(options.sizes), options.cases);
  const contenders = choose("contender", CONTENDERS, options.contenders);
  const wrk = await wrkVersion();
  if (wrk === undefined) {
    say("The benchmark needs wrk to make the load. On Debian and Ubuntu: apt-get install wrk");
    return CANNOT;
  }
  if (!existsSync("/proc/self/stat")) {
    say("The benchmark reads CPU time and memory from /proc, so that it needs Linux.");
    return CANNOT;
  }
  install();
  const folder = mkdtempSync(join(tmpdir(), "oncehook-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const needsPostgres = contenders.some(({ store }) => store === "postgres");
  const postgres = needsPostgres ? await postgresOrNone() : undefined;
  try {
    const shared = { ...options, folder, postgres };
    const machine = { ...machineFacts(folder), wrk, ...(postgres && { PostgreSQL: postgres.version }) };
    const date = new Date().toISOString();
    const outcome = await runCases(shared, cases, contenders, options.rounds, say);
    const { measurements, versions, missing } = outcome;
    const { rounds, seconds, connections } = options;
    const shown = cases.map(({ name, title }) => ({ name, title }));
    const results: Results = {
      date,
      machine,
      options: { rounds, seconds, connections },
      cases: shown,
      versions,
      missing,
      measurements,
    };
    publish(results, options.out);
    return 0;
  } finally {
    await postgres?.stop();
  }
}

/** Only the benchmark needs these packages, so that they are not in the project's own list. */
function install(): void {
  if (existsSync(join(HERE, "node_modules"))) return;
  say("Installing what only the benchmark needs …");
  try {
    execFileSync("npm", ["ci", "--ignore-scripts", "--prefix", HERE], { stdio: ["ignore", 2, 2] });
  } catch {
    say("That failed; contenders without their package will be reported as missing.");
  }
}

async function postgresOrNone(): Promise<Postgres | undefined> {
  try {
    return await startPostgres();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function publish(results: Results, out: string): void {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(out.replace(/(\.json)?$/, ".svg"), plot(results));
  process.stdout.write(`${report(results)}\n`);
}

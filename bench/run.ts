/** `npm run bench`: everything side by side on one machine. docs/performance.md describes the method. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTENDERS, type Contender } from "./contenders/index.ts";
import { wrkVersion } from "./load/wrk.ts";
import { machineFacts } from "./machine/machine-facts.ts";
import { type Postgres, startPostgres } from "./machine/postgres.ts";
import { choose, type Options, readOptions, USAGE } from "./options.ts";
import { plot } from "./report/plot.ts";
import type { Results } from "./report/results.ts";
import { report } from "./report/tables.ts";
import { writeDocs } from "./report/write-docs.ts";
import { type Case, casesOf } from "./rounds/case.ts";
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
  let choice: Choice;
  try {
    choice = choiceOf(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return CANNOT;
  }
  const { writesDocs, out } = choice.options;
  if (!writesDocs) return bench(choice);
  writeDocs(JSON.parse(readFileSync(out, "utf8")), new URL("../docs/", import.meta.url));
  return 0;
}

interface Choice {
  readonly options: Options;
  readonly cases: readonly Case[];
  readonly contenders: readonly Contender[];
}

/** @throws TypeError that names the option it does not know */
function choiceOf(args: readonly string[]): Choice {
  const options = readOptions(args, join(HERE, "results/latest.json"));
  const cases = choose("case", casesOf(options.sizes), options.cases);
  return { options, cases, contenders: choose("contender", CONTENDERS, options.contenders) };
}

async function bench({ options, cases, contenders }: Choice): Promise<number> {
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
    const { rounds, seconds, warmUpSeconds, connections, out } = options;
    const facts = {
      date: new Date().toISOString(),
      machine,
      options: { rounds, seconds, warmUpSeconds, connections },
      cases: cases.map(({ name, title }) => ({ name, title })),
    };
    // A run takes hours; its measurements are kept after each case.
    const outcome = await runCases(shared, cases, contenders, say, (current) => keep({ ...facts, ...current }, out));
    process.stdout.write(`${report({ ...facts, ...outcome })}\n`);
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

function keep(results: Results, out: string): void {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(out.replace(/(\.json)?$/, ".svg"), plot(results));
}

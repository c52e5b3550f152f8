/** Runs the scenario table in the runtimes that npm brings as programs for Linux on x64, after it has run in this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

interface Run {
  readonly name: string;
  readonly program: string;
  readonly flags: readonly string[];
  /** Of the titles. SQLite needs Node 24.10 or Bun. */
  readonly titles: string;
  /** So that a title that changes does not leave the run without tests. */
  readonly leastPassed: number;
}

const FILES = ["frameworks/node-frameworks.test.ts", "frameworks/web-frameworks.test.ts"];

const RUNS: readonly Run[] = [
  {
    name: "Node 22 on PostgreSQL",
    program: "frameworks/node_modules/node-22/bin/node",
    flags: [],
    titles: "on postgres",
    leastPassed: 200,
  },
  {
    name: "Bun on both databases",
    program: "frameworks/node_modules/@oven/bun-linux-x64/bin/bun",
    flags: ["--bun"],
    titles: "Express 5|Fastify|Hono",
    leastPassed: 240,
  },
];

const folder = mkdtempSync(join(tmpdir(), "oncehook-runtimes-"));
try {
  // Each waits for half of its time.
  await Promise.all(RUNS.map(tryRuntime));
} finally {
  rmSync(folder, { recursive: true });
}

async function tryRuntime(run: Run): Promise<void> {
  if (existsSync(run.program)) report(run, await passedIn(run));
  else process.stdout.write(`${run.name}: skipped, npm has no program of it for this machine\n`);
}

/** @returns how many tests passed; undefined where one failed, or none ran */
async function passedIn({ name, program, flags, titles }: Run): Promise<number | undefined> {
  const outputFile = join(folder, `${name}.json`);
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${outputFile}`];
  const config = ["--config", "frameworks/vitest.config.ts"];
  const args = [...flags, "node_modules/vitest/vitest.mjs", "run", ...config, ...FILES, "-t", titles, ...reporters];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  process.stdout.write(`${stdout}${stderr}`);
  if (status !== 0) return undefined;
  return (JSON.parse(readFileSync(outputFile, "utf8")) as { numPassedTests: number }).numPassedTests;
}

function report({ name, leastPassed }: Run, passed = 0): void {
  process.stdout.write(`${name}: ${passed} passed, expected at least ${leastPassed}\n`);
  if (passed < leastPassed) process.exitCode = 1;
}

/**
 * Asserts that a failing test fails the run. Anything loaded into the test runner can change how it exits, and a
 * runner that always exits with 0 says nothing about the code.
 */
import { spawnSync } from "node:child_process";

const args = ["run", "--config", "test/fixtures/failing-run.config.ts"];
const { status, stdout, stderr } = spawnSync("node_modules/.bin/vitest", args, { encoding: "utf8" });

if (status === 1 && stdout.includes("fails on purpose")) {
  process.stdout.write("test run: a failing test fails it\n");
} else {
  process.stderr.write(
    `a run with a failing test must end with exit code 1, got ${status}\n${stdout}${stderr}`,
  );
  process.exitCode = 1;
}

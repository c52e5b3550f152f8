/**
 * Asserts that a failing test fails the run, and that a process which the tests left running does. Anything loaded
 * into the test runner can change how it exits, and a runner that always exits with 0 says nothing about the code.
 */
import { spawnSync } from "node:child_process";

const MUST_FAIL = {
  fails: "fails on purpose",
  "leaves-child": "the tests of this file left running",
  // Its parent has ended: only its environment says whose it is, which Linux shows.
  ...(process.platform === "linux" && { "leaves-grandchild": "left running by the tests" }),
};

for (const [name, complaint] of Object.entries(MUST_FAIL)) {
  const args = ["run", "--config", "test/fixtures/failing-run.config.ts", `test/fixtures/${name}.ts`];
  const { status, stdout, stderr } = spawnSync("node_modules/.bin/vitest", args, { encoding: "utf8" });
  if (status === 1 && `${stdout}${stderr}`.includes(complaint)) {
    process.stdout.write(`test run: ${name} fails it\n`);
  } else {
    process.stderr.write(
      `the run of ${name} must end with exit code 1 and "${complaint}", got ${status}\n${stdout}${stderr}`,
    );
    process.exitCode = 1;
  }
}

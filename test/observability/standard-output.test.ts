import { spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { createLogger, createMask } from "../../src/observability/index.ts";
import { standardOutput } from "../../src/observability/logger.ts";

const DOOR = JSON.stringify(resolve("src/observability/index.ts"));

/** The messages that a process of its own has logged when it ends. */
function loggedBy(program: string): string[] {
  const { stdout } = spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { createLogger, createMask } from ${DOOR};
       const logger = createLogger({ level: "info", mask: createMask({}) });
       ${program}`,
    ],
    { encoding: "utf8" },
  );
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).msg);
}

describe("the lines on standard output", () => {
  it("all lines are written when the process exits in the same turn", () => {
    expect(loggedBy('logger.info("one"); logger.info("two"); process.exit(1);')).toEqual(["one", "two"]);
  });

  it("all lines are written when the process ends with an error, the last ones too", () => {
    const program = 'logger.info("one"); setTimeout(() => { logger.info("two"); throw new Error("x"); }, 20);';
    expect(loggedBy(program)).toEqual(["one", "two"]);
  });

  it("all loggers of a process share one listener of its end", () => {
    const listenersAfterLogger = () => {
      createLogger({ level: "info", mask: createMask({}) });
      return process.listenerCount("exit");
    };
    const afterFirst = listenersAfterLogger();
    expect(Array.from({ length: 10 }, listenersAfterLogger)).toEqual(Array(10).fill(afterFirst));
  });

  it("lines stand in the order in which they were logged", () => {
    const program = `for (let turn = 0; turn < 50; turn += 1) {
        for (let line = 0; line < 20; line += 1) logger.info(String(turn * 20 + line));
        await new Promise(setImmediate);
      }`;
    expect(loggedBy(program)).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index)));
  });

  it("lines that are left out are counted in a line of their own when the reader is too slow", async () => {
    const folder = mkdtempSync(join(tmpdir(), "oncehook-output-"));
    const path = join(folder, "out");
    try {
      const out = standardOutput(openSync(path, "w"), 300);
      for (const line of ["one", "two", "three"]) out.write(`${JSON.stringify({ msg: line.repeat(50) })}\n`);
      await new Promise<void>((done) => void out.flush(() => done()));
      const written = readFileSync(path, "utf8").trimEnd().split("\n");
      expect(written.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ left_out: 3 })]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

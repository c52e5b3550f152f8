import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { closeLogger, createLogger, createMask } from "../../src/observability/index.ts";

function setUp(level = "info") {
  const written: string[] = [];
  const logger = createLogger({
    level,
    mask: createMask({ secretValues: ["signing-secret"] }),
    destination: { write: (line) => void written.push(line) },
  });
  return { logger, written, lines: () => written.map((line) => JSON.parse(line)) };
}

describe("the logger", () => {
  it("the logger writes JSON lines with an ISO time and without process id or host name", () => {
    const { logger, lines } = setUp();
    logger.info({ a: 1 }, "hello");
    expect(lines()).toEqual([
      {
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        a: 1,
        msg: "hello",
      },
    ]);
  });

  it("the logger leaves out what is below its level", () => {
    const { logger, written } = setUp("warn");
    logger.info({}, "hello");
    expect(written).toEqual([]);
  });

  it("the logger masks message, stack and causes of an error, and keeps its code", () => {
    const { logger, lines, written } = setUp();
    const cause = new Error("token=abc123 was refused");
    const error = Object.assign(new Error("bad signing-secret", { cause }), {
      code: "E_BAD",
      query: "hidden",
    });
    logger.error({ err: error }, "failed");
    const [{ err }] = lines();
    expect(err).toMatchObject({ type: "Error", code: "E_BAD" });
    expect(err.message).toBe("bad [masked]: token=[masked] was refused");
    expect(err.stack).toContain("caused by: Error: token=[masked]");
    expect(written.join()).not.toMatch(/signing-secret|abc123|hidden/);
  });

  it("the logger masks an error that is logged without a message of its own", () => {
    const { logger, written } = setUp();
    logger.error(new Error("bad signing-secret"));
    logger.error({ err: new Error("bad signing-secret") });
    logger.error({ err: { message: "bad signing-secret" } });
    expect(written).toHaveLength(3);
    for (const line of written) {
      expect(line).toContain('"msg":"bad [masked]"');
      expect(line).not.toContain("signing-secret");
    }
  });

  it("the logger writes each part of an aggregate error", () => {
    const { logger, lines } = setUp();
    logger.error({ err: new AggregateError([new Error("refused at ::1"), "token=abc123"]) }, "failed");
    expect(lines()[0].err.errors).toEqual(["Error: refused at ::1", "token=[masked]"]);
  });

  it("the logger takes thrown values that are no errors", () => {
    const { logger, lines } = setUp();
    logger.error({ err: "signing-secret" }, "failed");
    expect(lines()[0].err).toBe("[masked]");
  });

  it("the logger closes although its destination cannot flush", async () => {
    await expect(closeLogger(setUp().logger)).resolves.toBeUndefined();
  });

  it("a closed logger has written everything to standard output", () => {
    const door = resolve("src/observability/index.ts");
    const program = `
      import { closeLogger, createLogger, createMask } from ${JSON.stringify(door)};
      const logger = createLogger({ level: "info", mask: createMask({}) });
      for (let index = 0; index < 2000; index += 1) logger.info({ index }, "line");
      await closeLogger(logger);
      process.exit(0);
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    expect(output.trimEnd().split("\n")).toHaveLength(2_000);
  });
});

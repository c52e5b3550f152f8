import { expect, it } from "vitest";
import { createSparingLog } from "../../src/domain/index.ts";

function recorded() {
  const lines: object[] = [];
  let now = new Date(0);
  const write = (level: string) => (fields: object, msg: string) => void lines.push({ level, ...fields, msg });
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const sparing = createSparingLog(log, { now: () => now });
  return { lines, sparing, goTo: (seconds: number) => (now = new Date(seconds * 1_000)) };
}

it("a sparing log writes an error once a minute for each cause, then how many it left out", () => {
  const { lines, sparing, goTo } = recorded();
  const err = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const other = new TypeError("other");
  for (let count = 0; count < 1_000; count += 1) sparing("error", { fields: { err }, message: "no start" });
  sparing("error", { fields: { err: other }, message: "no start" });
  sparing("warn", { fields: { err }, message: "no end" });
  sparing("warn", { fields: { err }, message: "no end", cause: "elsewhere" });
  goTo(60);
  sparing("error", { fields: { err }, message: "no start" });
  expect(lines).toEqual([
    { level: "error", err, msg: "no start" },
    { level: "error", err: other, msg: "no start" },
    { level: "warn", err, msg: "no end" },
    { level: "warn", err, msg: "no end" },
    { level: "error", err, left_out_before: 999, msg: "no start" },
  ]);
});

it("a sparing log counts a hundred causes apart, and all others as one", () => {
  const { lines, sparing } = recorded();
  for (let count = 0; count < 1_000; count += 1)
    sparing("error", { fields: { err: Object.assign(new Error("x"), { code: `C${count}` }) }, message: "m" });
  expect(lines).toHaveLength(101);
});

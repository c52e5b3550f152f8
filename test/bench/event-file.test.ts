import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  FILLING_MARK,
  SECRET,
  SIGNATURE_LENGTH,
  signedEvent,
  type Traffic,
  writeEventFile,
} from "../../bench/load/event-file.ts";

const script = readFileSync("bench/load/post.lua", "utf8");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oncehook-test-bench-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Reads a file as post.lua does. */
function read(traffic: Traffic, count: number, event = signedEvent()) {
  const file = join(folder, "events");
  writeEventFile(file, traffic, count, event);
  const [filling = "", ...lines] = readFileSync(file, "utf8").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => {
    const body = line.slice(SIGNATURE_LENGTH).replace(filling === "" ? "\u0000" : FILLING_MARK, () => filling);
    return {
      signature: line.slice(0, SIGNATURE_LENGTH),
      body,
      id: JSON.parse(body).event_id as string,
      isRight: line.startsWith(createHmac("sha256", SECRET).update(body).digest("hex")),
    };
  });
}

describe("the benchmark's file of events", () => {
  it("the file of events has the format that post.lua reads", () => {
    expect(Number(/SIGNATURE_LENGTH = (\d+)/.exec(script)?.[1])).toBe(SIGNATURE_LENGTH);
    expect(/FILLING_MARK = "\\(\d+)"/.exec(script)?.[1]).toBe(String(FILLING_MARK.codePointAt(0)));
    // The id that post.lua cuts out of a body by its pattern is the event's.
    expect(script).toContain(`'"event_id":"([^"]+)"'`);
    const [first] = read("fresh", 1);
    expect(/"event_id":"([^"]+)"/.exec(first?.body ?? "")?.[1]).toBe(first?.id);
  });

  it("the file holds as many events as were asked for, each signed and none twice", () => {
    const events = read("fresh", 12_345);
    expect(events.length).toBe(12_345);
    expect(new Set(events.map(({ id }) => id)).size).toBe(12_345);
    expect(events.every(({ isRight }) => isRight)).toBe(true);
  });

  it("mixed traffic sends three in ten events again, each of them once", () => {
    const events = read("mixed", 20_000);
    const different = new Set(events.map(({ id }) => id)).size;
    expect(1 - different / events.length).toBeCloseTo(0.3, 1);
    const deliveries = [...Map.groupBy(events, ({ id }) => id).values()];
    expect(Math.max(...deliveries.map(({ length }) => length))).toBe(2);
    expect(events.every(({ isRight }) => isRight)).toBe(true);
  });

  it("the file of duplicates holds their one event", () => {
    const event = signedEvent();
    expect(read("duplicates", 1_000, event)).toMatchObject([{ ...event, isRight: true }]);
  });

  it("bad signatures are made with another secret", () => {
    const events = read("bad-signatures", 100);
    expect(events.some(({ isRight }) => isRight)).toBe(false);
    expect(events.every(({ signature }) => /^[0-9a-f]{64}$/.test(signature))).toBe(true);
  });

  it("large bodies are signed with their filling, as they are sent", () => {
    const events = read("large", 10);
    expect(events.every(({ isRight, body }) => isRight && body.length > 16_000 && body.length < 17_500)).toBe(true);
  });
});

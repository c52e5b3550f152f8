import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joinReceivers } from "../../../src/store/sqlite/join-receivers.ts";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-receivers-"));
  path = join(folder, "test.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Joins as one more receiver. @returns whether it was alone, and what ends it */
async function joined() {
  let wasAlone = false;
  const lock = await joinReceivers(path, async () => {
    // Others may try meanwhile.
    await new Promise(setImmediate);
    wasAlone = true;
  });
  return { wasAlone, close: () => lock.close() };
}

/** A receiver in another process, which has joined. */
async function joinedProcess(): Promise<ChildProcess> {
  const module = new URL("../../../src/store/sqlite/join-receivers.ts", import.meta.url).href;
  const code = `
    const { joinReceivers } = await import(${JSON.stringify(module)});
    globalThis.kept = await joinReceivers(${JSON.stringify(path)}, async () => {});
    process.stdout.write("joined");
    setInterval(() => {}, 1_000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  return child;
}

describe("the receivers of an SQLite file", () => {
  it("the first is alone, a second of the same process is not, and the next after both have ended is", async () => {
    const [first, second] = [await joined(), await joined()];
    expect([first.wasAlone, second.wasAlone]).toEqual([true, false]);
    first.close();
    // The second is still there.
    const third = await joined();
    expect(third.wasAlone).toBe(false);
    for (const one of [second, third]) one.close();
    const last = await joined();
    expect(last.wasAlone).toBe(true);
    last.close();
  });

  it("one at most of several that join at once is alone, and all join", async () => {
    const all = await Promise.all([joined(), joined(), joined()]);
    expect(all.filter(({ wasAlone }) => wasAlone)).toHaveLength(1);
    for (const one of all) one.close();
  });

  it("one beside another process is not alone, and is at once after that was killed", async () => {
    const child = await joinedProcess();
    const second = await joined();
    expect(second.wasAlone).toBe(false);
    second.close();
    child.kill("SIGKILL");
    await once(child, "exit");
    const next = await joined();
    expect(next.wasAlone).toBe(true);
    next.close();
  });
});

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createDoorway } from "../../src/http/doorway.ts";

/** Whether requests may begin after so many turns of the event loop, each of which brought a connection. */
async function isClearAfter(turns: number, mostMs: number): Promise<boolean> {
  const doorway = createDoorway(mostMs);
  doorway.arrived();
  let isClear = false;
  void doorway.clear?.then(() => {
    isClear = true;
  });
  for (let turn = 0; turn < turns; turn += 1) {
    await nextTurn();
    doorway.arrived();
  }
  return isClear;
}

describe("requests", () => {
  it("begin at once while no connection arrives", () => {
    expect(createDoorway().clear).toBeUndefined();
  });

  it("wait while each turn of the event loop brings another connection", async () => {
    expect(await isClearAfter(50, 60_000)).toBe(false);
  });

  it("begin when a turn has brought none", async () => {
    const doorway = createDoorway(60_000);
    doorway.arrived();
    await doorway.clear;
    expect(doorway.clear).toBeUndefined();
  });

  it("begin in the end although connections never cease to arrive", async () => {
    expect(await isClearAfter(5, 0)).toBe(true);
  });
});

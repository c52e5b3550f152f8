import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { WriterQueue, type WriterTask } from "../../src/store/sqlite/writer-queue.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function task(eventKey: string): WriterTask {
  const deadline = performance.now() + 30_000;
  return { eventKey, deadline, needsOwnTransaction: false, run: async () => true, succeed() {}, fail() {} };
}

it("the writer's queue keeps no task that has left, although others always wait", async () => {
  const queue = new WriterQueue();
  const left = (() => {
    const first = task("first");
    queue.add(first);
    return new WeakRef(first);
  })();
  for (let at = 0; at < 10; at += 1) queue.add(task(`e${at}`));
  expect(queue.next()?.eventKey).toBe("first");
  expect(queue.next()?.eventKey).toBe("e0");
  // A `WeakRef` keeps its target until the end of the turn that made it.
  await nextTurn();
  collectGarbage();
  expect([left.deref(), queue.length, queue.first?.eventKey]).toEqual([undefined, 9, "e1"]);
  queue.failAll(new Error("the end of the test"));
});

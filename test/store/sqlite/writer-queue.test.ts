import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { NO_EVENT, WriterQueue, type WriterTask } from "../../../src/store/sqlite/writer-queue.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function task(eventKey: string): WriterTask {
  const deadline = performance.now() + 30_000;
  return { eventKey, deadline, needsOwnTransaction: false, run: async () => true, settle() {}, fail() {} };
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

it("events and background tasks take turns in the writer's queue, in order of arrival each", () => {
  const queue = new WriterQueue();
  const events = ["e1", "e2", "e3", "e4"].map(task);
  const background = [task(NO_EVENT), task(NO_EVENT)];
  for (const one of [...events, ...background]) queue.add(one);
  const order: (WriterTask | undefined)[] = [];
  while (queue.length > 0) {
    order.push(queue.first);
    expect(queue.next()).toBe(order.at(-1));
  }
  const [e1, e2, e3, e4] = events;
  expect(order).toEqual([e1, background[0], e2, background[1], e3, e4]);
});

it("tasks that are put back into the writer's queue leave it before those that came after them", () => {
  const queue = new WriterQueue();
  const [e1, e2, e3] = ["e1", "e2", "e3"].map(task) as [WriterTask, WriterTask, WriterTask];
  const [b1, b2] = [task(NO_EVENT), task(NO_EVENT)];
  for (const one of [e1, e2, b1, e3, b2]) queue.add(one);
  const group = [queue.next(), queue.next(), queue.next()];
  expect(group).toEqual([e1, b1, e2]);
  queue.requeue([e1, b1, e2]);
  expect(queue.length).toBe(5);
  const order = Array.from({ length: 5 }, () => queue.next());
  expect(order.filter((one) => one?.eventKey !== NO_EVENT)).toEqual([e1, e2, e3]);
  expect(order.filter((one) => one?.eventKey === NO_EVENT)).toEqual([b1, b2]);
});

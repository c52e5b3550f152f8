import { setTimeout as sleep } from "node:timers/promises";

/** Waits for a condition that another process or a loop brings about; fails when it never does. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`the condition did not come true within ${limitMs} ms`);
    await sleep(15);
  }
}

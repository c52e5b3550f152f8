import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sharedRender } from "../../src/observability/metrics.ts";

describe("renders of the metrics", () => {
  it("concurrent requests for metrics share one render, which starts after they arrived", async () => {
    let state = 0;
    let renders = 0;
    const render = sharedRender(async () => {
      renders += 1;
      const seen = state;
      await sleep(5);
      return seen;
    });
    const first = render();
    await Promise.resolve();
    await Promise.resolve();
    state = 1;
    const others = Array.from({ length: 100 }, () => render());
    expect(await first).toBe(0);
    expect(new Set(await Promise.all(others))).toEqual(new Set([1]));
    expect(renders).toBe(2);
  });

  it("renders go on after one that failed", async () => {
    let renders = 0;
    const render = sharedRender(async () => {
      renders += 1;
      if (renders === 1) throw new Error("no metrics");
      return "metrics";
    });
    await expect(render()).rejects.toThrow("no metrics");
    expect(await render()).toBe("metrics");
  });
});

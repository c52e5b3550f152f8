import { expect, it } from "vitest";
import { createPoller } from "../../src/system/poller.ts";

const AN_HOUR_MS = 3_600_000;

it("a round that found something is followed by the next one after a pause, and one that found nothing after the interval", async () => {
  const found = [3, 1, 0];
  const ended = Promise.withResolvers<void>();
  const rounds: number[] = [];
  const poller = createPoller(
    async () => {
      const count = found.shift() ?? Number.NaN;
      rounds.push(count);
      return count;
    },
    ended.reject,
    (count) => {
      if (count > 0) return 1;
      ended.resolve();
      return undefined;
    },
  );
  poller.startAtOnce(AN_HOUR_MS);
  await ended.promise;
  await poller.stop();
  expect(rounds).toEqual([3, 1, 0]);
});

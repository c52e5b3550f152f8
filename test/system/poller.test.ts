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

it("a poller tells when its last round ended, whether it failed, and when the next one comes", async () => {
  const rounds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failed = Promise.withResolvers<void>();
  let at = 0;
  const poller = createPoller(
    async () => {
      const round = rounds[at];
      at += 1;
      await round?.promise;
    },
    () => failed.resolve(),
  );
  expect(poller.rounds()).toEqual({ everyMs: undefined, isAtWork: false, last: undefined, nextAt: undefined });
  poller.startAtOnce(AN_HOUR_MS);
  expect(poller.rounds()).toMatchObject({ everyMs: AN_HOUR_MS, isAtWork: true, nextAt: undefined });
  rounds[0]?.reject(new Error("down"));
  await failed.promise;
  await expect.poll(() => poller.rounds().last?.hasFailed).toBe(true);
  const { isAtWork, last, nextAt = 0 } = poller.rounds();
  expect([isAtWork, nextAt - (last?.endedAt ?? 0) >= AN_HOUR_MS]).toEqual([false, true]);
  poller.wake();
  rounds[1]?.resolve();
  await expect.poll(() => poller.rounds().last?.hasFailed).toBe(false);
  await poller.stop();
  expect(poller.rounds().nextAt).toBeUndefined();
});

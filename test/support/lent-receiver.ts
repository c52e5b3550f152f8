import { withDatabase } from "./databases.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "./receiver.ts";

/** One receiver on SQLite for several tests: `beforeAll(lent.begin)`, `afterAll(lent.end)`. */
export function lentReceiver(options: ReceiverOptions = {}) {
  const over = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;
  let receiver: TestReceiver | undefined;
  return {
    get receiver(): TestReceiver {
      if (receiver === undefined) throw new Error("the receiver has not been started");
      return receiver;
    },
    async begin(): Promise<void> {
      const ready = Promise.withResolvers<void>();
      ended = withDatabase("sqlite", async (target) => {
        const started = await startReceiver(target, options);
        receiver = started;
        ready.resolve();
        await over.promise;
        await started.stop();
      });
      await Promise.race([ready.promise, ended]);
    },
    async end(): Promise<void> {
      over.resolve();
      await ended;
    },
  };
}

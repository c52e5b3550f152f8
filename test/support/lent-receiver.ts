import { withDatabase } from "./databases.ts";
import { heldOpen } from "./for-all-tests.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "./receiver.ts";

/** One receiver on SQLite for several tests: `beforeAll(lent.begin)`, `afterAll(lent.end)`. */
export function lentReceiver(options: ReceiverOptions = {}) {
  let receiver: TestReceiver | undefined;
  const held = heldOpen((untilTestsEnd) =>
    withDatabase("sqlite", async (target) => {
      const started = await startReceiver(target, options);
      receiver = started;
      await untilTestsEnd();
      await started.stop();
    }),
  );
  return {
    get receiver(): TestReceiver {
      if (receiver === undefined) throw new Error("the receiver has not been started");
      return receiver;
    },
    begin: held.begin,
    end: held.end,
  };
}

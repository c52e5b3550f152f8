import { fill } from "../../scripts/measure/fill.ts";
import { type Dialect, withMigrated } from "./databases.ts";
import { type ReceiverOptions, startReceiver, type TestReceiver } from "./receiver.ts";

/** Lends a receiver whose callback log has so many rows, of which no index of values is built. */
export function withFilledReceiver<T>(
  dialect: Dialect,
  rows: number,
  use: (receiver: TestReceiver) => Promise<T>,
  options: ReceiverOptions = {},
): Promise<T> {
  return withMigrated(dialect, async (target) => {
    // SQLite has one writer at a time: the rows come before the receiver.
    await (await startReceiver(target, options)).stop();
    await fill(target, rows);
    const receiver = await startReceiver(target, options);
    try {
      return await use(receiver);
    } finally {
      await receiver.stop();
    }
  });
}

import type { Clock } from "../../domain/index.ts";
import { type HandlerTransaction, trackCall } from "../handler-transaction.ts";
import type { OnceScope } from "../once.ts";

/** The notifications of a handler, numbered as they come. @param insert writes one; its payload is JSON */
export function createEnqueue(
  transaction: HandlerTransaction,
  clock: Clock,
  insert: (position: number, topic: string, payload: string, at: string) => unknown,
): OnceScope["enqueue"] {
  let position = 0;
  return ({ topic, payload }) => {
    position += 1;
    const row = [position, topic, JSON.stringify(payload), clock.now().toISOString()] as const;
    return trackCall(transaction, `notify("${topic}")`, () => void insert(...row));
  };
}

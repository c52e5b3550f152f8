import { randomUUID } from "node:crypto";
import type { JsonObject } from "../domain/index.ts";

/** Plausible `data` for the built-in types, for `send` without `--data`, the demo and the sandbox. */
export function sampleData(type: string): JsonObject | undefined {
  const id = randomUUID().slice(0, 8);
  switch (type) {
    case "user_authorized":
      return { code: `code-${id}`, user_id: `user-${id}` };
    case "payment_notify":
      return { order_id: `order-${id}`, amount: 49.9 };
    case "webhook_message":
      return { message: `Hello from ${id}` };
    default:
      return undefined;
  }
}

import type { NotificationView } from "oncehook/admin-client";
import { plain } from "./plain-message.ts";

type Delivery = Pick<NotificationView["deliveries"][number], "state" | "error">;

/** Whether an attempt failed and none has succeeded since. */
export function isFailing({ state, error }: Delivery): boolean {
  return state === "dead" || (state === "waiting" && error !== null);
}

/** Without the class of the error. */
export function reasonOf(error: string): string {
  return plain(error.replace(/^\w*Error: /, ""));
}

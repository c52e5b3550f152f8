import { createHash } from "node:crypto";
import type { StoredNotification } from "../store/index.ts";

/**
 * The id that goes out with a notification, the same at every attempt: the receiver tells duplicates by it. A digest,
 * since an event id may hold what no header takes.
 */
export function messageId({ idempotencyKey }: StoredNotification): string {
  return `ntf_${createHash("sha256").update(idempotencyKey).digest("base64url").slice(0, 32)}`;
}

import { AdminError, createAdminClient } from "oncehook/admin-client";
import { BASE_PATH } from "./mount.ts";

/** The admin API beside this page; the session's cookie goes along. */
export const api = createAdminClient({ origin: BASE_PATH, timeLimitMs: 15_000 });

/** With a longer time limit, for slow requests: a replay of a handler, or an endpoint check. */
export const slowApi = createAdminClient({ origin: BASE_PATH, timeLimitMs: 180_000 });

/** Whether a second request would fail in the same way. */
export function isFinal(error: unknown): boolean {
  return error instanceof AdminError && error.status < 500 && error.status !== 429;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof AdminError && error.status === status;
}

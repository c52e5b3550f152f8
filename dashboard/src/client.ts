import { AdminError, createAdminClient } from "oncehook/admin-client";

/** The admin API of the listener that this page came from; the session's cookie goes along. */
export const api = createAdminClient({ timeLimitMs: 15_000 });

/** The same for what takes its time: a handler that is run, or an address that is looked at from outside. */
export const slowApi = createAdminClient({ timeLimitMs: 180_000 });

/** A refusal that no second question will change. */
export function isFinal(error: unknown): boolean {
  return error instanceof AdminError && error.status < 500 && error.status !== 429;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof AdminError && error.status === status;
}

import { AdminError, createAdminClient } from "oncehook/admin-client";
import { contractClient } from "./contract-client.ts";
import { fetchAsOperator } from "./memory-token.ts";

const typed = createAdminClient({ fetch: fetchAsOperator });

/** The admin API of the listener that this page came from. */
export const api = {
  ...contractClient,
  failures: { ...typed.failures, ...contractClient.failures },
  notifications: typed.notifications,
  /** What the receiver says of its API, in OpenAPI 3.1. */
  description: async (): Promise<unknown> => (await fetchAsOperator("/api/v1/openapi.json")).json(),
};

/** A refusal that no second question will change. */
export function isFinal(error: unknown): boolean {
  return error instanceof AdminError && error.status < 500 && error.status !== 429;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof AdminError && error.status === status;
}

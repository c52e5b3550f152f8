import type { EventKey } from "../domain/index.ts";
import { NO_NUL } from "./paging.ts";

/** Of an address that ends in `:source/:event_id`, for Fastify's validation. */
export const EVENT_PARAMS = {
  type: "object",
  properties: { source: { type: "string", pattern: NO_NUL }, event_id: { type: "string", pattern: NO_NUL } },
} as const;

export interface EventParams {
  readonly source: string;
  readonly event_id: string;
}

export function eventKeyOf({ source, event_id }: EventParams): EventKey {
  return { source, eventId: event_id };
}

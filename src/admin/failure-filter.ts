import type { FailureFilter, StoredFailure } from "../store/index.ts";
import { NO_NUL } from "./paging.ts";

/** Which failures are meant, as requests say it. */
export interface FailureFilterQuery {
  readonly state?: StoredFailure["state"];
  readonly source?: string;
  readonly event_type?: string;
  readonly code?: string;
}

const text = (description: string) => ({
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: NO_NUL,
  description,
});

/** For Fastify's validation. */
export const FAILURE_FILTER = {
  state: { type: "string", enum: ["waiting", "exhausted"] },
  source: text("Such as `platform` or `oauth`."),
  event_type: text("Such as `payment_notify`."),
  code: text("Why the last attempt failed: a code of docs/errors.md, such as `handler_failed`."),
};

export function failureFilter({ state, source, event_type, code }: FailureFilterQuery): FailureFilter {
  return {
    ...(state === undefined ? {} : { state }),
    ...(source === undefined ? {} : { source }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(code === undefined ? {} : { code }),
  };
}

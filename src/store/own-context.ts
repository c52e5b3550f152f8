import { AsyncResource } from "node:async_hooks";
import type { Completion, OnceScope } from "./store.ts";

/**
 * A handler's run in the asynchronous context of its own delivery: a group is worked off in that of whoever opened it, and
 * traces, or a tenant that an `AsyncLocalStorage` holds, would be another event's.
 */
export function inOwnContext(run: (scope: OnceScope) => Promise<Completion>): typeof run {
  const context = new AsyncResource("oncehook.event");
  return (scope) => context.runInAsyncScope(run, undefined, scope);
}

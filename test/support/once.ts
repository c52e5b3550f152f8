import { AsyncLocalStorage } from "node:async_hooks";
import type {
  Completion,
  Deadline,
  EventReplay,
  NewRecord,
  OnceResult,
  OnceScope,
  Store,
  TransactionObserver,
} from "../../src/store/index.ts";

interface OnceOptions {
  readonly deadline: Deadline;
  /** `dry-run` rolls everything back at the end. */
  readonly mode: "commit" | "dry-run";
  readonly observer?: TransactionObserver | undefined;
  /** Runs a handled event again. */
  readonly replaces?: EventReplay | undefined;
}

/** Runs a handler for one event, as the pipeline does. @returns how it ended @throws what the handler threw, or a StoreError */
export function runOnce(
  store: Pick<Store, "submit" | "dryRun">,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode, observer, replaces }: OnceOptions,
): Promise<OnceResult> {
  return new Promise((settle, fail) => {
    const complete = (returned: unknown) => returned as Completion;
    const event = { record, deadline, replaces, handle: AsyncLocalStorage.bind(run), complete, settle, fail };
    if (mode === "commit") store.submit(event);
    else store.dryRun(event, observer);
  });
}

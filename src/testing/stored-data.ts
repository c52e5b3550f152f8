import { presentFailure, presentNotification, presentRecord } from "../admin/index.ts";
import type { InspectableReceiver } from "../app/index.ts";
import type { OnceResult, OnceScope, Page, Store, Transaction } from "../store/index.ts";
import type { DueWork } from "./test-clock.ts";

/** Shaped as the admin API shows them (docs/openapi.json). */
export type TestRecord = ReturnType<typeof presentRecord>;
export type TestFailure = ReturnType<typeof presentFailure>;
export type TestNotification = ReturnType<typeof presentNotification>;

/** The rows of the receiver's database; each list has the oldest first. */
export interface StoredData {
  /** Handled events. */
  records(): Promise<TestRecord[]>;
  /** Events whose attempts have failed, `waiting` for a retry, `exhausted` or `rejected`. */
  failures(): Promise<TestFailure[]>;
  /** The notifications of handlers with their deliveries; none until the clock is moved. */
  notifications(): Promise<TestNotification[]>;
  /** Reads tables of your own through a handler's `tx`. Whatever is written there is rolled back. */
  read<T>(use: (tx: Transaction) => Promise<T>): Promise<T>;
}

const PAGE = 200;
const READING_LIMIT_MS = 30_000;

export function readStoredData(receiver: InspectableReceiver["receiver"]): StoredData {
  const { store } = receiver;
  return {
    records: async () => (await allPages((page) => store.records.list(page, {}))).map(presentRecord),
    failures: async () =>
      (await allPages((page) => store.failures.list(page, {}))).map((row) => presentFailure(row, receiver)),
    notifications: async () => (await allPages((page) => store.notifications.list(page, {}))).map(presentNotification),
    read: (use) => readRolledBack(store, use),
  };
}

/** When retries and deliveries come due, for the clock. */
export function dueWork(store: Store, run: () => Promise<unknown>): DueWork {
  return {
    run,
    async next(after) {
      const waiting = { state: "waiting" } as const;
      const failures = await allPages((page) => store.failures.list(page, waiting));
      const notifications = await allPages((page) => store.notifications.list(page, waiting));
      const times = [...failures, ...notifications.flatMap(({ deliveries }) => deliveries)]
        .map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? ""))
        .filter((time) => time > after.getTime());
      return times.length === 0 ? undefined : new Date(Math.min(...times));
    },
  };
}

async function allPages<Row extends { readonly id: number }>(list: (page: Page) => Promise<readonly Row[]>) {
  const rows: Row[] = [];
  for (;;) {
    const last = rows.at(-1);
    const page = await list({ limit: PAGE, ...(last === undefined ? {} : { before: last.id }) });
    rows.push(...page);
    if (page.length < PAGE) return rows.reverse();
  }
}

/** A dry run of a made-up event: it leaves no rows, and works on both databases. */
async function readRolledBack<T>(store: Store, use: (tx: Transaction) => Promise<T>): Promise<T> {
  let found: T | undefined;
  const record = { source: "testing", eventId: "read", eventType: "read", version: "v1", bodySha256: "0".repeat(64) };
  const deadline = performance.now() + READING_LIMIT_MS;
  // A transaction that the database broke is run again; what counts is what the last run saw.
  const handle = async ({ tx }: OnceScope) => {
    found = await use(tx);
  };
  await new Promise<OnceResult>((settle, fail) =>
    store.dryRun({ record, deadline, handle, complete: () => ({ result: {} }), settle, fail }),
  );
  return found as T;
}

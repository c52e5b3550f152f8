import { describe, expect, it } from "vitest";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, type Target, withMigrated } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { openTarget } from "../support/open-target.ts";

type Values = Readonly<Record<string, string | number | null>>;

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const NOW = ago(0);
/** Longer ago than the shortest retention. */
const OLD = ago(25);

function insert(table: string, values: Values): string {
  const texts = Object.values(values).map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  return `INSERT INTO oncehook_${table} (${Object.keys(values).join(", ")}) VALUES (${texts.join(", ")})`;
}

const event = { source: "platform", event_id: "e1" };
const record = (over: Values = {}) =>
  insert("records", {
    ...event,
    event_type: "t",
    version: "v1",
    status: "completed",
    body_sha256: "ab",
    result: "{}",
    created_at: NOW,
    processed_at: NOW,
    ...over,
  });
const logRow = (over: Values = {}) =>
  insert("callbacks", {
    ...event,
    request_id: "r",
    received_at: NOW,
    method: "POST",
    url: "/",
    remote_address: "",
    request_headers: "{}",
    request_body: "",
    outcome: "success",
    response_status: 200,
    response_body: "",
    processing_ms: 1,
    with_record: 0,
    ...over,
  });
const failure = (over: Values = {}) =>
  insert("failures", {
    ...event,
    event_type: "t",
    version: "v1",
    state: "waiting",
    attempts: 1,
    retries_done: 0,
    code: "handler_failed",
    error: "",
    encrypted_body: "",
    body_sha256: "ab",
    first_failed_at: NOW,
    last_failed_at: NOW,
    next_attempt_at: NOW,
    ...over,
  });
const notification = (over: Values = {}) =>
  insert("notifications", { ...event, position: 1, topic: "t", payload: "{}", created_at: NOW, ...over });
/** Of the one notification that is there. */
const delivery = (over: Values = {}) =>
  insert("deliveries", {
    notification_id: 0,
    channel: "log",
    state: "waiting",
    attempts: 0,
    ...over,
  }).replace("VALUES (0", "VALUES ((SELECT id FROM oncehook_notifications)");
const GIVEN_TO_CHANNELS = `UPDATE oncehook_notifications SET fanned_out_at = '${NOW}'`;
/** The record names the row of the log. */
const NAMED = "UPDATE oncehook_records SET callback_id = (SELECT max(id) FROM oncehook_callbacks)";
const exhausted = { state: "exhausted", next_attempt_at: null };
const other = { source: "other" };

const BROKEN: [title: string, invariant: string, statements: string[]][] = [
  ["a record is not completed", "records-completed", [record({ status: "processing" })]],
  ["a record has no time of its end", "records-completed", [record({ processed_at: null })]],
  ["a record has no result", "records-completed", [record({ result: null })]],
  ["a record's result is no object", "records-completed", [record({ result: "7" })]],
  ["an event was answered success twice", "one-success", [record(), logRow(), logRow()]],
  ["a record names a row that is gone", "log-of-record", [record({ callback_id: 7 })]],
  ["a record names another event's row", "log-of-record", [record(), logRow({ event_id: "e2" }), NAMED]],
  ["a record names another source's row", "log-of-record", [record(), logRow(other), NAMED]],
  ["a record names a row of no success", "log-of-record", [record(), logRow({ outcome: "rejected" }), NAMED]],
  ["a row of the log lacks its record", "record-of-log", [logRow({ with_record: 1 })]],
  ["an event has a record and no retry left", "failures-open", [record(), failure(exhausted)]],
  ["a failure waits for nothing", "failures-scheduled", [failure({ next_attempt_at: null })]],
  ["an exhausted failure has a retry", "failures-scheduled", [failure({ state: "exhausted" })]],
  ["a notification has no event", "notifications-of-records", [notification()]],
  ["a notification's event is another source's", "notifications-of-records", [record(other), notification()]],
  ["a notification is there twice", "notifications-once", [record(), notification(), notification()]],
  ["a delivery was never given to its channel", "deliveries-fanned-out", [record(), notification(), delivery()]],
  [
    "a delivery has no time",
    "deliveries-timed",
    [record(), notification(), delivery({ state: "delivered" }), GIVEN_TO_CHANNELS],
  ],
  [
    "a delivery that waits has a time",
    "deliveries-timed",
    [record(), notification(), delivery({ delivered_at: NOW }), GIVEN_TO_CHANNELS],
  ],
];

const WHOLE: [title: string, statements: string[]][] = [
  ["a record names its row of the log", [record(), logRow({ with_record: 1 }), NAMED]],
  ["two sources have an event of one id", [logRow(), logRow(other), record(), record(other)]],
  ["an event was answered once, and then as done before", [logRow(), logRow({ outcome: "already_processed" })]],
  ["rows of no event say success", [logRow({ event_id: null }), logRow({ event_id: null })]],
  ["retention has deleted the row that a record names", [record({ callback_id: 7, created_at: OLD })]],
  ["retention has deleted the record of a notification", [notification({ created_at: OLD })]],
  ["an alert belongs to no event", [notification({ position: 0 })]],
  ["another source's event of that id is exhausted", [record(), failure({ ...other, ...exhausted })]],
  ["an event whose COMMIT was lost waits for its retry", [record(), failure()]],
  ["two sources notify of an event of one id", [record(), record(other), notification(), notification(other)]],
  ["a delivery is on its way", [record(), notification(), delivery(), GIVEN_TO_CHANNELS]],
  [
    "a delivery is done",
    [record(), notification(), delivery({ state: "delivered", delivered_at: NOW }), GIVEN_TO_CHANNELS],
  ],
];

const TABLES = ["deliveries", "notifications", "failures", "records", "callbacks"];

describe.each(DIALECTS)("what verify finds on %s", (dialect) => {
  let target: Target;

  openForAllTests((untilTestsEnd) =>
    withMigrated(dialect, async (fresh) => {
      target = fresh;
      await (await openTarget(fresh)).store.close();
      await untilTestsEnd();
    }),
  );

  /** How many rows break each invariant that is broken, where the database holds this alone. */
  async function broken(statements: readonly string[]) {
    const empty = TABLES.map((table) => `DELETE FROM oncehook_${table}`);
    await execute(target, [...empty, ...statements].join("; "));
    const { invariants } = await checkTarget(target);
    const found = invariants.filter((one) => one.violations > 0);
    return { counts: Object.fromEntries(found.map((one) => [one.name, one.violations])), found };
  }

  it.each(BROKEN)("verify reports where %s", async (_title, invariant, statements) => {
    expect((await broken(statements)).counts).toEqual({ [invariant]: 1 });
  });

  it.each(WHOLE)("verify finds nothing where %s", async (_title, statements) => {
    expect((await broken(statements)).counts).toEqual({});
  });

  it("verify counts all violations, and names five of them", async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `e${index}`);
    const { counts, found } = await broken(ids.map((event_id) => record({ event_id, result: null })));
    expect(counts).toEqual({ "records-completed": 7 });
    expect(found[0]?.examples).toHaveLength(5);
    expect(ids).toEqual(expect.arrayContaining([...(found[0]?.examples ?? [])]));
  });
});

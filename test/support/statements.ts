import { DatabaseSync } from "node:sqlite";
import { EventStatements } from "../../src/store/postgres/groups/event-statements.ts";
import { MessageWriter } from "../../src/store/postgres/wire/message-writer.ts";
import { qualifiedNames } from "../../src/store/qualified-names.ts";
import { newRecord } from "./effects.ts";
import { logRow } from "./log-row.ts";

/** The distinct statements that are compiled while `work` runs, by SQLite or on the way to PostgreSQL. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const seen = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  const { parse } = MessageWriter.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...given) {
    seen.add(given[0]);
    return Reflect.apply(prepare, this, given);
  };
  MessageWriter.prototype.parse = function (this: MessageWriter, ...given) {
    seen.add(given[0]);
    Reflect.apply(parse, this, given);
  };
  try {
    await work();
  } finally {
    Object.assign(DatabaseSync.prototype, { prepare });
    Object.assign(MessageWriter.prototype, { parse });
  }
  return [...seen];
}

/** All statements of PostgreSQL's way from an event to its record, also those that only a busy receiver sends. */
export function hotStatements(): string[] {
  const [record, now] = [newRecord("e1"), new Date()];
  const plain = { result: {} };
  const logged = { result: {}, logEntry: logRow() };
  const notifications = ["a", "b"].map((topic) => ({ topic, payload: "{}", at: now.toISOString() }));
  const events = [plain, logged].map((completion) => ({ record, completion, notifications }));
  const hot = new EventStatements(qualifiedNames(undefined));
  const statements = [
    hot.insertRecord(record, now),
    hot.deleteRecord(record),
    hot.selectRecords([record]),
    ...[plain, logged].flatMap((one) => hot.completion(record, one, [], now)),
    ...[plain, logged].flatMap((one) => hot.completion(record, one, notifications, now)),
    ...hot.completions(events, now, now),
  ];
  return [...new Set(statements.map(({ text }) => text))];
}

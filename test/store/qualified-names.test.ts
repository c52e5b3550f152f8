import { describe, expect, it } from "vitest";
import { EVENT_TEXTS } from "../../src/store/postgres/groups/event-texts.ts";
import { qualifiedNames } from "../../src/store/qualified-names.ts";

describe("the names of Oncehook's tables in a schema", () => {
  const { text } = qualifiedNames('it\'s "own"');

  it.each<[string, string, string]>([
    ["a table", "DELETE FROM oncehook_records WHERE false", 'DELETE FROM "it\'s ""own""".oncehook_records WHERE false'],
    ["a quoted table", 'insert into "oncehook_settings" (a)', 'insert into "it\'s ""own""".oncehook_settings (a)'],
    [
      "an index that is dropped",
      "DROP INDEX oncehook_failures_due",
      'DROP INDEX "it\'s ""own""".oncehook_failures_due',
    ],
    [
      "an index that is created, which takes the schema of its table",
      "CREATE INDEX oncehook_failures_due ON oncehook_failures (state)",
      'CREATE INDEX oncehook_failures_due ON "it\'s ""own""".oncehook_failures (state)',
    ],
    [
      "a text that is read as a name",
      "pg_get_serial_sequence('oncehook_callbacks', 'id')",
      `pg_get_serial_sequence('"it''s ""own""".oncehook_callbacks', 'id')`,
    ],
    ["a column's prefix", "oncehook_failures.state", "oncehook_failures.state"],
    ["a column's quoted prefix", '"oncehook_failures"."state"', '"oncehook_failures"."state"'],
    ["a user's own table", "SELECT * FROM oncehook_orders", "SELECT * FROM oncehook_orders"],
  ])("%s is named as its place in a statement needs it", (_, sql, expected) => {
    expect(text(sql)).toBe(expected);
  });

  it("without a schema every text stays as it is", () => {
    for (const sql of Object.values(EVENT_TEXTS)) expect(qualifiedNames(undefined).text(sql)).toBe(sql);
  });

  it("no text on the path of an event names a table without its schema", () => {
    for (const sql of Object.values(EVENT_TEXTS)) {
      expect(text(sql)).toContain('"it\'s ""own""".oncehook_');
      expect(text(sql)).not.toMatch(/(?<!\.)oncehook_\w+/);
    }
  });
});

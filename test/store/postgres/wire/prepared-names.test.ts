import pg from "pg";
import { beforeEach, expect, it, vi } from "vitest";

type Names = typeof import("../../../../src/store/postgres/wire/prepared-names.ts");
let preparedName: Names["preparedName"];
let dropPreparedName: Names["dropPreparedName"];

// The names are the process's: each test begins with none.
beforeEach(async () => {
  vi.resetModules();
  ({ preparedName, dropPreparedName } = await import("../../../../src/store/postgres/wire/prepared-names.ts"));
});

const refusal = (code: string) => Object.assign(new pg.DatabaseError("no", 2, "error"), { code });
const named = (text: string) => {
  preparedName(text);
  return preparedName(text);
};

it("a text has a name of its own on PostgreSQL from its second time on", () => {
  expect(preparedName("SELECT 1")).toBeUndefined();
  const name = preparedName("SELECT 1");
  expect(name).toBeDefined();
  expect(preparedName("SELECT 1")).toBe(name);
  expect(named("SELECT 2")).not.toBe(name);
});

it.each(["0A000", "42703", "26000"])(
  "a text on PostgreSQL has no name after an error %s, which its age may have caused",
  (code) => {
    const text = `SELECT '${code}'`;
    expect(named(text)).toBeDefined();
    expect(dropPreparedName(text, refusal(code))).toBe(true);
    expect([preparedName(text), preparedName(text)]).toEqual([undefined, undefined]);
  },
);

it.each([refusal("23505"), new Error("42703")])(
  "a text on PostgreSQL keeps its name after another error: %s",
  (error) => {
    const text = `SELECT '${error}'`;
    const name = named(text);
    expect(name).toBeDefined();
    expect(dropPreparedName(text, error)).toBe(false);
    expect(preparedName(text)).toBe(name);
  },
);

it("texts on PostgreSQL that come once keep no place, and no more than 64 have names", () => {
  preparedName("SELECT 'long ago'");
  for (let index = 0; index < 256; index += 1) preparedName(`SELECT 'once ${index}'`);
  expect(preparedName("SELECT 'long ago'")).toBeUndefined();
  const names = Array.from({ length: 80 }, (_, index) => named(`SELECT 'twice ${index}'`));
  const given = names.filter((name) => name !== undefined);
  expect(new Set(given).size).toBe(given.length);
  expect(given.length).toBeLessThanOrEqual(64);
  expect(names.at(-1)).toBeUndefined();
  expect(names[0]).toBeDefined();
});

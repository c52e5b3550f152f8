import pg from "pg";
import { beforeEach, expect, it } from "vitest";
import { PreparedNames } from "../../../../src/store/postgres/wire/prepared-names.ts";

let names: PreparedNames;
beforeEach(() => {
  names = new PreparedNames();
});

const refusal = (code: string) => Object.assign(new pg.DatabaseError("no", 2, "error"), { code });
const named = (text: string) => {
  names.nameFor(text);
  return names.nameFor(text);
};

it("a text has a name of its own on PostgreSQL from its second time on", () => {
  expect(names.nameFor("SELECT 1")).toBeUndefined();
  const name = names.nameFor("SELECT 1");
  expect(name).toBeDefined();
  expect(names.nameFor("SELECT 1")).toBe(name);
  expect(named("SELECT 2")).not.toBe(name);
});

it.each(["0A000", "42703", "26000"])(
  "a text on PostgreSQL has no name after an error %s, which its age may have caused",
  (code) => {
    const text = `SELECT '${code}'`;
    expect(named(text)).toBeDefined();
    expect(names.drop(text, refusal(code))).toBe(true);
    expect([names.nameFor(text), names.nameFor(text)]).toEqual([undefined, undefined]);
  },
);

it.each([refusal("23505"), new Error("42703")])(
  "a text on PostgreSQL keeps its name after another error: %s",
  (error) => {
    const text = `SELECT '${error}'`;
    const name = named(text);
    expect(name).toBeDefined();
    expect(names.drop(text, error)).toBe(false);
    expect(names.nameFor(text)).toBe(name);
  },
);

it("texts on PostgreSQL that come once keep no place, and no more than 64 have names", () => {
  names.nameFor("SELECT 'long ago'");
  for (let index = 0; index < 256; index += 1) names.nameFor(`SELECT 'once ${index}'`);
  expect(names.nameFor("SELECT 'long ago'")).toBeUndefined();
  const twice = Array.from({ length: 80 }, (_, index) => named(`SELECT 'twice ${index}'`));
  const given = twice.filter((name) => name !== undefined);
  expect(new Set(given).size).toBe(given.length);
  expect(given.length).toBeLessThanOrEqual(64);
  expect(twice.at(-1)).toBeUndefined();
  expect(twice[0]).toBeDefined();
});

it("texts on PostgreSQL that took all names of one store leave the names of another store of the process", () => {
  for (let index = 0; index < 80; index += 1) named(`SELECT 'first ${index}'`);
  const others = new PreparedNames();
  others.nameFor("SELECT 1");
  expect([others.nameFor("SELECT 1"), named("SELECT 1")]).toEqual([expect.any(String), undefined]);
});

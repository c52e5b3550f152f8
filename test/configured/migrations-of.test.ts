import { describe, expect, it } from "vitest";
import { z } from "zod";
import { migrationsOf } from "../../src/configured/handlers.ts";
import { createRegistry } from "../../src/handlers/index.ts";
import { defineHandler, type Migration, type Version } from "../../src/index.ts";

const migration = (name: string): Migration => ({ name, up: async () => {} });
const handler = (type: string, migrations: readonly Migration[], versions?: readonly Version[]) =>
  defineHandler({ type, data: z.object({}), migrations, ...(versions && { versions }), handle: () => ({}) });
const listed = (handlers: ReturnType<typeof handler>[], own: readonly Migration[] = []) =>
  migrationsOf(createRegistry([], handlers), own).map(({ name, handlers: owners }) => [name, owners]);

describe("the migrations of the handlers and of the configuration file", () => {
  it("migrations of one name by two handlers stay separate", () => {
    const two = [handler("shipped", [migration("parcels")]), handler("returned", [migration("parcels")])];
    expect(listed(two, [migration("parcels")])).toEqual([
      ["parcels", ["shipped"]],
      ["parcels", ["returned"]],
      ["parcels", ["*"]],
    ]);
  });

  it("a type with a number sign has migrations apart from those of a named handler", () => {
    const tables = [migration("parcels")];
    const named = defineHandler({
      ...{ type: "transfers", name: "audit", data: z.object({}), handle: () => ({}) },
      migrations: [migration("parcels")],
    });
    expect(listed([handler("transfers#audit", tables), named]).map(([, owners]) => owners)).toEqual([
      ["transfers#audit#"],
      ["transfers#audit"],
    ]);
  });

  it("migrations are one where several handlers list the same object", () => {
    const shared = migration("parcels");
    const two = [handler("shipped", [shared], ["v1"]), handler("shipped", [{ ...shared }], ["v2"])];
    expect(listed([...two, handler("returned", [shared])])).toEqual([["parcels", ["shipped", "returned"]]]);
  });

  it("two different migrations of one name are refused in two versions of one type", () => {
    const two = [
      handler("shipped", [migration("parcels")], ["v1"]),
      handler("shipped", [migration("parcels")], ["v2"]),
    ];
    expect(() => listed(two)).toThrow(
      'two different ones of the handlers of "shipped" (in v1, and in v2) are named "parcels"',
    );
  });

  it("two migrations of one name in the configuration file are refused", () => {
    expect(() => listed([], [migration("parcels"), migration("parcels")])).toThrow(
      'two different ones of the configuration file\'s `migrations` are named "parcels"',
    );
  });
});

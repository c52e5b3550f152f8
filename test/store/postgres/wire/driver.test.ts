import { readFileSync } from "node:fs";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { assertDriver, internalsOf, SUPPORTED_PG } from "../../../../src/store/postgres/wire/driver.ts";
import { withConnection } from "../../../../src/store/postgres/wire/first-connection.ts";

const UNREACHABLE = "postgres://localhost:1/none";

function clientWithout(member: "parsedStatements" | "stream" | "sync"): pg.Client {
  const client = new pg.Client(UNREACHABLE);
  Reflect.set(internalsOf(client).connection, member, undefined);
  return client;
}

describe("the members of the PostgreSQL driver that the store relies on", () => {
  it("the installed driver has all of them, and its version is the supported one", () => {
    expect(() => assertDriver(new pg.Client(UNREACHABLE))).not.toThrow();
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(SUPPORTED_PG).toBe(devDependencies.pg);
  });

  it.each(["parsedStatements", "stream", "sync"] as const)(
    "a driver without %s is refused by name, with its version and the supported one",
    (member) => {
      expect(() => assertDriver(clientWithout(member))).toThrow(
        new RegExp(
          `pg ${SUPPORTED_PG} does not fit: client\\.connection\\.${member} is of the type undefined, expected .+ ` +
            `Install pg ${SUPPORTED_PG}`,
        ),
      );
    },
  );

  it("the start refuses such a driver before it connects", async () => {
    const { sync } = pg.Connection.prototype;
    Reflect.set(pg.Connection.prototype, "sync", undefined);
    try {
      const connecting = withConnection(UNREACHABLE, { connectMs: 1_000 }, async () => {});
      await expect(connecting).rejects.toThrow("client.connection.sync is of the type undefined");
    } finally {
      pg.Connection.prototype.sync = sync;
    }
  });
});

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { z } from "zod";
import { defineHandler, type HandleContext } from "../../src/index.ts";
import { startTestReceiver, type TestReceiver } from "../../src/testing/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";

/** Each mistake of a handler, on a line of its own that ends with its name. */
const MISTAKES: Record<string, (tx: HandleContext["tx"]) => unknown> = {
  "an error of its own": () => Promise.reject(new Error("no stock")), // an error of its own
  "an unknown table": (tx) => tx.query.insertInto("nowhere").values({ id: 1 }).execute(), // an unknown table
  "no row": async (tx) => {
    await tx.query.selectFrom("nowhere").selectAll().executeTakeFirstOrThrow(); // no row
  },
  "wrong SQL": async (tx) => {
    await tx.execute("SELEC 1"); // wrong SQL
  },
  "wrong SQL of the driver": async (tx) => {
    if (tx.dialect === "sqlite") return tx.connection.exec("SELEC 1"); // wrong SQL of the driver
    return await tx.connection.query("SELEC 1"); // wrong SQL of the driver
  },
  "a missing await": (tx) => void tx.execute("SELECT 1").catch(() => {}), // a missing await
};
const faulty = defineHandler({
  type: "parcel_shipped",
  data: z.object({ mistake: z.string() }),
  async handle({ event, tx }) {
    await MISTAKES[event.data.mistake]?.(tx);
    return {};
  },
});

const lines = readFileSync(import.meta.filename, "utf8").split("\n");
/** Where in this file a mistake is made. */
function lineOf(mistake: string): RegExp {
  const numbers = lines.flatMap((line, index) =>
    line.endsWith(`; // ${mistake}`) || line.endsWith(`, // ${mistake}`) ? [index + 1] : [],
  );
  return new RegExp(`handler-line\\.test\\.ts:(?:${numbers.join("|")}):`);
}

describeFullOnPostgres("the handler's line on %s", (dialect) => {
  let receiver: TestReceiver;
  beforeAll(async () => {
    const databaseUrl = dialect === "sqlite" ? undefined : inject("postgresUrl");
    receiver = await startTestReceiver({ databaseUrl, handlers: [faulty], printFailures: false });
  });
  afterAll(() => receiver.close());

  it.each(Object.keys(MISTAKES))(
    "the handler's line is in a test's failure, the failures list and a dry run: %s",
    async (mistake) => {
      const { event, failure, status } = await receiver.send({
        event_type: "parcel_shipped",
        data: { mistake },
      });
      expect([status, failure]).toEqual([500, expect.stringMatching(lineOf(mistake))]);
      expect(failure).not.toMatch(/node_modules|src\/(?:store|receive)/);
      const stored = (await receiver.failures()).find(({ event_id }) => event_id === event.event_id);
      expect(stored?.error).toMatch(lineOf(mistake));

      const address = `${receiver.adminOrigin}/api/v1/failures/platform/${event.event_id}/replay?dry_run=true`;
      const authorization = `Bearer ${receiver.adminToken}`;
      const dryRun = await fetch(address, { method: "POST", headers: { authorization } });
      expect(await dryRun.json()).toMatchObject({ error: expect.stringMatching(lineOf(mistake)) });
    },
  );
});

describe("a test receiver that answers 5xx", () => {
  it("a test receiver prints the error with the handler's line on standard error, unless told not to", async () => {
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const data = { mistake: "an unknown table" };
      for (const printFailures of [undefined, false]) {
        await using receiver = await startTestReceiver({
          handlers: [faulty],
          ...(printFailures === false ? { printFailures } : {}),
        });
        await receiver.send({ event_type: "parcel_shipped", data });
        await receiver.send({ event_type: "unknown" });
      }
      expect(printed.mock.calls).toHaveLength(1);
      expect(printed.mock.calls[0]?.[0]).toMatch(
        /^parcel_shipped returned 500: Error: no such table: nowhere\n {4}at /,
      );
      expect(printed.mock.calls[0]?.[0]).toMatch(lineOf("an unknown table"));
    } finally {
      printed.mockRestore();
    }
  });
});

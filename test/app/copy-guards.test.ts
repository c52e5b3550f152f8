import { describe, expect, it } from "vitest";
import { type CopyReport, copyDatabase } from "../../src/app/index.ts";
import { databaseFile, type Target, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, startReceiver, testConfig } from "../support/receiver.ts";

/** Lends a database that a receiver has used, and one that it may be copied to. */
const withBoth = (use: (target: Target, copied: () => Promise<CopyReport>) => Promise<void>) =>
  withDatabase("sqlite", async (source) => {
    const receiver = await startReceiver(source);
    await receiver.send(payment({ event_id: "evt-1" }));
    await receiver.stop();
    const from = databaseFile(source);
    const given = { from, handlers: [], migrations: [], skip: [], onProgress: () => {} };
    await withDatabase("postgres", (target) =>
      use(target, () => copyDatabase({ ...given, config: testConfig(target) })),
    );
  });

describe("the target of oncehook copy", () => {
  it("a receiver that uses the target makes the copy refuse it", { tags: "full" }, () =>
    withBoth(async (target, copied) => {
      const receiver = await startReceiver(target);
      try {
        await expect(copied()).rejects.toThrow("a receiver is connected to the target");
        expect(await receiver.count("oncehook_records")).toBe(0);
      } finally {
        await receiver.stop();
      }
    }),
  );

  it(
    "a second copy refuses a target with one differing row, although the number of rows is equal",
    { tags: "full" },
    () =>
      withBoth(async (target, copied) => {
        await copied();
        await execute(target, "UPDATE oncehook_records SET result = '{}'");
        await expect(copied()).rejects.toThrow("the target has rows of its own");
      }),
  );
});

import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { databaseFile, openTarget, withDatabase } from "../../support/databases.ts";
import { addEffect, committing, EFFECTS, newRecord } from "../../support/effects.ts";
import { failFlushes } from "../../support/fail-flushes.ts";
import { runOnce } from "../../support/once.ts";

it("a store on SQLite whose disk did not take a commit says so, is not ready, and leaves the log for the next start", () =>
  withDatabase("sqlite", async (target) => {
    const path = databaseFile(target);
    const { store } = await openTarget(target, { migrations: [EFFECTS] });
    await store.ping();
    const mend = await failFlushes(path);
    try {
      const lost = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
      await expect(lost).rejects.toMatchObject({ name: "StoreError", reason: "commit_unknown" });
      expect(await store.broken).toMatchObject({ cause: { message: "EIO: i/o error, fdatasync" } });
      await expect(store.ping()).rejects.toThrow("flush of the WAL failed");
      await expect(store.find(newRecord("e1"), performance.now() + 1_000)).rejects.toThrow("flush of the WAL failed");
    } finally {
      mend();
    }
    await Promise.all([store.close(), store.close()]);
    expect(existsSync(`${path}-wal`)).toBe(true);
    const next = await openTarget(target, { migrations: [EFFECTS] });
    expect((await next.store.find(newRecord("e1"), performance.now() + 1_000))?.eventId).toBe("e1");
    await next.store.close();
  }));

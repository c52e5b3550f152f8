import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { isConcurrentCheckpointSafe } from "../../../src/store/sqlite/checkpointer.ts";

describe("checkpoints beside commits", () => {
  it.each(["3.44.6", "3.50.7", "3.51.3", "3.53.0", "3.53.4", "4.0.0"])(
    "checkpoints run beside commits with SQLite %s, which keeps the WAL",
    (version) => expect(isConcurrentCheckpointSafe(version)).toBe(true),
  );

  it.each(["3.44.5", "3.46.1", "3.50.4", "3.50.6", "3.51.2", ""])(
    "checkpoints never run beside commits with SQLite %s, which may lose part of the WAL",
    (version) => expect(isConcurrentCheckpointSafe(version)).toBe(false),
  );

  it("checkpoints run beside commits with the SQLite of this Node", () => {
    const database = new DatabaseSync(":memory:");
    const row = database.prepare("SELECT sqlite_version() AS version").get();
    expect(isConcurrentCheckpointSafe(String(row?.version))).toBe(true);
    database.close();
  });
});

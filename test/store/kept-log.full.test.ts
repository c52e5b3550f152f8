import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { addEffect, committing, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { openTarget } from "../support/open-target.ts";

it("a start beside a reader reports that the earlier WAL is kept, and a start alone does not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-kept-"));
  const path = join(folder, "x.db");
  const target = { dialect: "sqlite", url: `sqlite:${path}` } as const;
  const first = await openTarget(target, { migrations: [EFFECTS] });
  await runOnce(first.store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
  expect(first.notes).toEqual([]);
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT count(*) FROM oncehook_records");
  const second = await openTarget(target, { migrations: [EFFECTS] });
  expect(second.notes).toEqual([expect.stringContaining("the existing write-ahead log could not be restarted")]);
  reader.exec("COMMIT");
  reader.close();
  await Promise.all([first.store.close(), second.store.close()]);
  const third = await openTarget(target, { migrations: [EFFECTS] });
  expect(third.notes).toEqual([]);
  await third.store.close();
  await rm(folder, { recursive: true });
});

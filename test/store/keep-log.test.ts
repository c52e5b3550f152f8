import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { keepWal } from "../../src/store/sqlite/flusher.ts";

it("the write-ahead log outlives the connections that are closed after it is to be kept", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-keep-log-"));
  const path = join(folder, "x.db");
  const connections = [new Connection(path), new Connection(path)];
  connections[0]?.database.exec("CREATE TABLE t (n integer)");
  keepWal(path);
  for (const connection of connections) connection.close();
  expect(existsSync(`${path}-wal`)).toBe(true);
  const next = new Connection(path);
  expect(next.get("SELECT count(*) AS n FROM t")).toEqual({ n: 0 });
  next.close();
  await rm(folder, { recursive: true });
});

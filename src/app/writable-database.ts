import type { Config } from "../config/index.ts";
import { writableByOthers } from "../files/index.ts";

/** A warning where other users of this machine may change the embedded database, with the command that ends it. */
export function writableDatabase({ database }: Config): string[] {
  if (database.kind !== "sqlite") return [];
  const { path } = database;
  const writable = writableByOthers([path, `${path}-wal`, `${path}-shm`]);
  if (writable.length === 0) return [];
  return [
    `DATABASE_URL: every user of this machine may write ${writable.join(", ")}, and so change what was handled; ` +
      `expected this user alone. Run: chmod o-w ${writable.map(quoted).join(" ")}`,
  ];
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorReason } from "../domain/index.ts";
import { StartError } from "./start-error.ts";

export type TemporaryDatabase = Awaited<ReturnType<typeof temporaryDatabase>>;

/**
 * A database for one test: a SQLite file in a folder of its own, or, where a PostgreSQL is named, a database of its own on
 * that server. A SQLite file that is named is used as it is, and stays.
 * @throws StartError when there can be none
 */
export async function temporaryDatabase(given?: string) {
  if (given === undefined) {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-test-"));
    const remove = () => rm(folder, { recursive: true, force: true });
    return { url: `sqlite:${join(folder, "test.db")}`, remove };
  }
  // A file that is named stays; an address of another kind is the configuration's to refuse.
  if (!/^postgres(ql)?:\/\//.test(given)) return { url: given, remove: async () => {} };
  const { createScratchDatabase } = await import("../store/postgres/index.ts");
  try {
    const { url, drop } = await createScratchDatabase(given);
    return { url, remove: drop };
  } catch (cause) {
    throw new StartError(
      `databaseUrl: no database could be made on that PostgreSQL (${errorReason(cause)}); each test receiver has one of its own there, ` +
        "so the server must answer and its user must be allowed to create databases (CREATEDB)",
      { cause },
    );
  }
}

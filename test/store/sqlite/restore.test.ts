import files, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fs, { copyFile, mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { backupSqlite } from "../../../src/store/sqlite/backup.ts";
import { checkSqlite } from "../../../src/store/sqlite/inspect.ts";
import { restoreSqlite } from "../../../src/store/sqlite/restore.ts";
import { committing, countOf, newRecord } from "../../support/effects.ts";
import { runOnce } from "../../support/once.ts";
import { openTarget, STAMP } from "../../support/open-target.ts";

const NOW = new Date("2026-01-02T03:04:05.678Z");
const KEPT = "live.db.before-2026-01-02T03-04-05-678Z";

let whole = "";
let folder = "";
const at = (name: string) => join(folder, name);
const live = () => at("live.db");
const records = (path: string) => countOf({ dialect: "sqlite", url: `sqlite:${path}` }, "oncehook_records");
const restore = (path = live()) =>
  restoreSqlite({ from: at("copy.db"), path, environment: STAMP.environment, now: NOW });

/** The database holds two events; its copy was made after the first of them. */
beforeAll(async () => {
  whole = await mkdtemp(join(tmpdir(), "oncehook-whole-"));
  const path = join(whole, "live.db");
  const { store } = await openTarget({ dialect: "sqlite", url: `sqlite:${path}` });
  await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
  await backupSqlite(path, join(whole, "copy.db"));
  await runOnce(store, newRecord("e2"), async () => ({ result: {} }), committing());
  await store.close();
});

afterAll(() => rm(whole, { recursive: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-restore-"));
  for (const name of ["live.db", "copy.db"]) await copyFile(join(whole, name), at(name));
});

afterEach(() => rm(folder, { recursive: true }));

function change(path: string, statement: string): void {
  const database = new DatabaseSync(path);
  database.exec(statement);
  database.close();
}

describe("a restore of an SQLite database", () => {
  it("a restored database has mode 0600 whatever the copy's mode, and the replaced one can still be opened", async () => {
    chmodSync(at("copy.db"), 0o644);
    expect(await restore()).toMatchObject({ keptAs: at(KEPT), copy: { contents: { records: 1 } } });
    expect(statSync(live()).mode & 0o777).toBe(0o600);
    expect([await records(live()), await records(at(KEPT))]).toEqual([1, 2]);
    expect(readdirSync(folder).sort()).toEqual(["copy.db", "live.db", KEPT]);
  });

  it("a restore makes the missing folder of the database, and has kept nothing then", async () => {
    const path = join(folder, "data", "new.db");
    expect((await restore(path)).keptAs).toBeUndefined();
    expect(await records(path)).toBe(1);
  });

  it("a restore keeps a journal and a WAL whose database is gone, and leaves none of them beside the copy", async () => {
    await rm(live());
    for (const end of ["-journal", "-wal", "-shm"]) writeFileSync(live() + end, `of ${end}`);
    await restore();
    for (const end of ["-journal", "-wal", "-shm"])
      expect([existsSync(live() + end), readFileSync(at(KEPT) + end, "utf8")]).toEqual([false, `of ${end}`]);
    expect(await records(live())).toBe(1);
  });

  it.each(["-wal", "-journal"])(
    "a restore refuses a copy that has changes in a %s beside it, and takes it without",
    async (end) => {
      writeFileSync(at("copy.db") + end, "changes that are not carried out");
      await expect(restore()).rejects.toThrow(`copy.db${end} holds a part of`);
      expect(await records(live())).toBe(2);
      for (const carriedOut of ["", "\0".repeat(512)]) {
        writeFileSync(at("copy.db") + end, carriedOut);
        await restore(at(`new${carriedOut.length}.db`));
        expect(await records(at(`new${carriedOut.length}.db`))).toBe(1);
      }
    },
  );

  it.each([
    ["no page", (file: Buffer) => file.fill(0xff, 100), 1],
    ["no header", (file: Buffer) => file.fill("x"), 1],
  ])("a restore refuses a copy as damaged of which %s can be read", async (_title, spoil, count) => {
    writeFileSync(at("copy.db"), spoil(readFileSync(at("copy.db"))));
    expect(await checkSqlite(at("copy.db"))).toMatchObject({
      contents: undefined,
      invariants: [{ name: "file-intact", violations: count }],
    });
    await expect(restore()).rejects.toThrow("is damaged, or no database at all");
    expect(await records(live())).toBe(2);
  });

  it("a restore refuses a copy that SQLite does not find intact; the check counts all faults and names five", async () => {
    const database = new DatabaseSync(at("copy.db"));
    database.enableDefensive(false);
    // The index misses seven rows, which were written while it was not known.
    database.exec(`CREATE TABLE spoiled (a integer); CREATE INDEX spoiled_a ON spoiled (a);
      CREATE TEMP TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'spoiled_a';
      PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'spoiled_a'; PRAGMA writable_schema = RESET;
      INSERT INTO spoiled VALUES (1), (2), (3), (4), (5), (6), (7);
      PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept; PRAGMA writable_schema = RESET`);
    database.close();
    const [intact] = (await checkSqlite(at("copy.db"))).invariants;
    expect(intact).toMatchObject({ name: "file-intact", violations: 8 });
    expect(intact?.examples).toHaveLength(5);
    await expect(restore()).rejects.toThrow(/is damaged.*row 1 missing from index spoiled_a/);
  });

  it("a restore reports rows that point to nothing, and accepts the copy", async () => {
    change(
      at("copy.db"),
      "PRAGMA foreign_keys = OFF; CREATE TABLE item (id integer PRIMARY KEY, box integer REFERENCES item); INSERT INTO item VALUES (1, 7)",
    );
    const { copy } = await restore();
    const broken = copy.invariants.filter((one) => one.violations > 0);
    expect(broken).toMatchObject([{ name: "foreign-keys", violations: 1, examples: ["item 1"] }]);
  });

  it("a restore accepts a copy of before databases belonged to an environment", async () => {
    change(at("copy.db"), "DELETE FROM oncehook_settings");
    await restore();
    expect(await records(live())).toBe(1);
  });

  it("a restore accepts a copy that violates an invariant, and names the invariant", async () => {
    change(at("copy.db"), "UPDATE oncehook_records SET result = NULL");
    const { copy } = await restore();
    expect(copy.invariants.filter(({ violations }) => violations > 0)).toMatchObject([{ name: "records-completed" }]);
  });

  it.each([
    ["has no page that can be read", (file: Buffer) => file.fill(0xff, 100)],
    ["ends within its first page", (file: Buffer) => file.subarray(0, 600)],
    ["is no database", (file: Buffer) => file.fill("x")],
  ])("a restore replaces a database that %s, and keeps it", async (_title, spoil) => {
    const spoiled = spoil(readFileSync(live()));
    writeFileSync(live(), spoiled);
    await restore();
    expect(await records(live())).toBe(1);
    expect(readFileSync(at(KEPT)).equals(spoiled)).toBe(true);
  });

  it("a restore changes nothing where the database cannot be locked, and does not call that being in use", async () => {
    mkdirSync(`${live()}-wal`);
    await expect(restore()).rejects.toMatchObject({ errcode: 14 });
    expect(readdirSync(folder).sort()).toEqual(["copy.db", "live.db", "live.db-wal"]);
  });

  it("a restore refuses a folder in the place of the database", async () => {
    mkdirSync(at("data"));
    await expect(restore(at("data"))).rejects.toThrow("is a folder; name a file in it");
  });

  it("a restore and a backup succeed where killed ones of the same process id left their half of a copy", async () => {
    const halves = [live(), at("new.db")].map((path) => `${path}.partial-${process.pid}`);
    for (const half of halves) writeFileSync(half, "half");
    await backupSqlite(live(), at("new.db"));
    await restore();
    expect([await records(live()), await records(at("new.db"))]).toEqual([1, 2]);
    expect(halves.map((half) => readFileSync(half, "utf8"))).toEqual(["half", "half"]);
    expect(readdirSync(folder).filter((name) => name.includes(".partial-"))).toHaveLength(2);
  });

  it("a restore takes a copy on another file system that has the same inode number", async () => {
    const { ino } = statSync(live());
    const { statSync: original } = files;
    const sameNumber = (path: string, ...rest: []) =>
      Object.assign(original(path, ...rest), path === at("copy.db") && { ino, dev: -1 });
    Object.assign(files, { statSync: sameNumber });
    syncBuiltinESMExports();
    try {
      await restore();
    } finally {
      Object.assign(files, { statSync: original });
      syncBuiltinESMExports();
    }
    expect(await records(live())).toBe(1);
  });

  it("a restore refuses a link to a database in use, a part of which is in the WAL beside it", async () => {
    writeFileSync(`${at("copy.db")}-wal`, "changes that are not carried out");
    symlinkSync(at("copy.db"), at("link.db"));
    const restored = restoreSqlite({
      from: at("link.db"),
      path: live(),
      environment: STAMP.environment,
      now: NOW,
    });
    await expect(restored).rejects.toThrow("copy.db-wal holds a part of");
    expect(await records(live())).toBe(2);
  });
});

describe("a backup of an SQLite database", () => {
  const { link } = fs;
  const linking = (instead: typeof fs.link) => {
    fs.link = instead;
    syncBuiltinESMExports();
  };
  /** Without what SQLite keeps beside a database that is read. */
  const names = () =>
    readdirSync(folder)
      .filter((name) => !name.startsWith("live.db-"))
      .sort();
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

  afterEach(() => linking(link));

  it("a backup without a file name is refused", async () => {
    await expect(backupSqlite(live(), "")).rejects.toThrow("name a file for the copy");
  });

  it.each(["EPERM", "ENOTSUP", "ENOSYS"])(
    "a backup is made on a file system that answers a hard link with %s",
    async (code) => {
      linking(failing(code));
      await backupSqlite(live(), at("new.db"));
      expect(await records(at("new.db"))).toBe(2);
      expect(names()).toEqual(["copy.db", "live.db", "new.db"]);
    },
  );

  it("a backup ends with an error where the disk fails, and leaves no file", async () => {
    linking(failing("EIO"));
    await expect(backupSqlite(live(), at("new.db"))).rejects.toMatchObject({ code: "EIO" });
    expect(names()).toEqual(["copy.db", "live.db"]);
  });

  it("a backup does not replace a file that has got its name in the meantime", async () => {
    linking(async () => {
      writeFileSync(at("new.db"), "another's");
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    });
    await expect(backupSqlite(live(), at("new.db"))).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(at("new.db"), "utf8")).toBe("another's");
  });
});

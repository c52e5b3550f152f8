import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { Flusher, openWal } from "../../../src/store/sqlite/flusher.ts";
import { Writer } from "../../../src/store/sqlite/writer.ts";
import { NO_EVENT } from "../../../src/store/sqlite/writer-queue.ts";

const SOON = () => performance.now() + 5_000;

interface Opened {
  readonly path: string;
  readonly connection: Connection;
  readonly flusher: Flusher;
  readonly writer: Writer;
  write(n: number): Promise<number>;
  rows(): unknown[];
}

async function withWriter(run: (opened: Opened) => Promise<void>, committed = () => {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-writer-"));
  const path = join(folder, "x.db");
  const connection = new Connection(path);
  connection.database.exec("CREATE TABLE t (n integer)");
  const flusher = new Flusher(openWal(path));
  const writer = new Writer(connection, flusher, committed);
  const write = (n: number) =>
    writer.submit(`e${n}`, SOON(), () => connection.run("INSERT INTO t VALUES (?)", n).changes);
  const rows = () => connection.database.prepare("SELECT n FROM t").all();
  try {
    await run({ path, connection, flusher, writer, write, rows });
    await writer.drain();
  } finally {
    await flusher.close();
    connection.close();
    await rm(folder, { recursive: true });
  }
}

/** Submits members by name, and writes down the order in which they ran. */
function recorded(writer: Writer) {
  const runs: string[] = [];
  const run = (name: string, work = () => {}) =>
    writer.submit(name, SOON(), () => {
      runs.push(name);
      work();
      return name;
    });
  return { runs, run };
}

/** SQLite itself refuses this from here on; a savepoint can still be undone. */
function refuse({ database }: Connection, what: "COMMIT" | "ROLLBACK"): void {
  database.setAuthorizer((action, operation) =>
    action === constants.SQLITE_TRANSACTION && operation === what ? constants.SQLITE_DENY : constants.SQLITE_OK,
  );
}

/** Fails after it has written, so that the group has to be rolled back. */
function failsAfterWriting({ connection, writer }: Opened, first: () => void): Promise<unknown> {
  return writer.submit("e2", SOON(), () => {
    connection.run("INSERT INTO t VALUES (2)");
    first();
    throw new Error("of its own");
  });
}

const BROKEN = { name: "StoreError", reason: "unavailable", message: /could not be rolled back/ };
const STUCK = 1_000;
/** Iterators that are kept, so that no garbage collection finishes them. */
const unfinished: Iterator<unknown>[] = [];
/** Steps once, and leaves the statement in progress. */
function start(database: DatabaseSync, sql: string): Iterator<unknown> {
  const rows = database.prepare(sql).iterate();
  rows.next();
  return rows;
}
/** Longer than a group takes members in. */
const GROUP_IS_OLD_MS = 30;
/** A constraint that only COMMIT checks. */
const DEFERRED = `CREATE TABLE parent (id integer PRIMARY KEY);
  CREATE TABLE child (parent integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`;

describe("the writer of SQLite", () => {
  it("the writer goes on when one member's writes cannot be undone by themselves, and the rest of its group is committed", () =>
    withWriter(async (opened) => {
      const first = opened.write(1);
      await expect(failsAfterWriting(opened, () => {})).rejects.toThrow("of its own");
      expect([await first, await opened.write(3)]).toEqual([1, 1]);
      expect(opened.rows()).toMatchObject([{ n: 1 }, { n: 3 }]);
    }));

  it("the writer goes on after an error that has ended the transaction itself", () =>
    withWriter(async (opened) => {
      opened.connection.database.exec(
        "CREATE TRIGGER ends BEFORE INSERT ON t WHEN new.n = 2 BEGIN SELECT RAISE(ROLLBACK, 'ended'); END",
      );
      const [first, second] = [opened.write(1), opened.write(2)];
      await expect(second).rejects.toThrow("ended");
      expect([await first, await opened.write(3)]).toEqual([1, 1]);
      expect(opened.rows()).toMatchObject([{ n: 1 }, { n: 3 }]);
    }));

  it("a failed ROLLBACK fails the whole group and all that wait at once, and breaks the store", () =>
    withWriter(async (opened) => {
      const begun = performance.now();
      const first = opened.write(1);
      const second = failsAfterWriting(opened, () => refuse(opened.connection, "ROLLBACK"));
      const ends = await Promise.allSettled([first, second, opened.write(3)]);
      const later = await Promise.allSettled([opened.write(4)]);
      for (const end of [...ends, ...later])
        expect(end).toMatchObject({
          status: "rejected",
          reason: { ...BROKEN, message: expect.stringMatching(BROKEN.message) },
        });
      expect(performance.now() - begun).toBeLessThan(STUCK);
      expect(await opened.flusher.broken).toMatchObject({ cause: { message: "not authorized" } });
    }));

  it("the writer answers commit_unknown and breaks the store when COMMIT fails and ROLLBACK after it", () =>
    withWriter(async (opened) => {
      opened.connection.database.exec("CREATE TABLE parent (id integer PRIMARY KEY)");
      opened.connection.database.exec(
        "CREATE TABLE child (id integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
      );
      const orphan = opened.writer.submit("e1", SOON(), () => {
        refuse(opened.connection, "ROLLBACK");
        return opened.connection.run("INSERT INTO child VALUES (404)").changes;
      });
      await expect(orphan).rejects.toMatchObject({ name: "StoreError", reason: "commit_unknown" });
      await expect(opened.write(2)).rejects.toThrow(BROKEN.message);
    }));

  it("the writer fails its group at once when the connection is closed in the middle of it", () =>
    withWriter(async (opened) => {
      const first = opened.write(1);
      const second = opened.writer.submit("e2", SOON(), () => {
        opened.connection.close();
        throw new Error("of its own");
      });
      for (const end of [first, second, opened.write(3)]) await expect(end).rejects.toThrow(BROKEN.message);
    }));

  it.each<[string, (connection: Connection) => void, RegExp]>([
    [
      "a statement in progress keeps it from a savepoint",
      ({ database }) => void unfinished.push(start(database, "INSERT INTO t VALUES (9) RETURNING n")),
      /statements in progress/,
    ],
    [
      "it is inside a transaction that it did not begin",
      ({ database }) => database.exec("BEGIN"),
      /within a transaction/,
    ],
    [
      "its connection reads an old snapshot that another process has moved on from",
      ({ database }) => {
        database.exec("INSERT INTO t VALUES (7), (8)");
        unfinished.push(start(database, "SELECT n FROM t"));
        const other = new DatabaseSync(database.location() ?? "");
        other.exec("INSERT INTO t VALUES (9)");
        other.close();
      },
      /locked/,
    ],
    ["its connection is closed", (connection) => connection.close(), /not open|finalized/],
  ])("the writer breaks the store, and all that wait fail at once: %s", async (_why, disturb, cause) => {
    await withWriter(async (opened) => {
      await opened.write(1);
      disturb(opened.connection);
      const begun = performance.now();
      const ends = await Promise.allSettled([opened.write(2), opened.write(3)]);
      for (const { reason } of ends as PromiseRejectedResult[])
        expect(reason).toMatchObject({
          name: "StoreError",
          reason: "unavailable",
          message: expect.stringContaining("restart"),
        });
      expect(performance.now() - begun).toBeLessThan(STUCK);
      expect(opened.flusher.isIntact).toBe(false);
      await expect(opened.flusher.broken).resolves.toMatchObject({
        cause: { message: expect.stringMatching(cause) },
      });
      for (const rows of unfinished.splice(0)) rows.return?.();
    });
  });

  it("an event that leaves a statement in progress fails at once, with its group, and breaks the store", () =>
    withWriter(async ({ writer, connection, flusher, write, rows }) => {
      const first = write(1);
      const leaving = writer.submit("e2", SOON(), () => {
        unfinished.push(start(connection.database, "INSERT INTO t VALUES (2) RETURNING n"));
        return 2;
      });
      for (const one of [first, leaving])
        await expect(one).rejects.toMatchObject({ name: "StoreError", reason: "unavailable" });
      expect(flusher.isIntact).toBe(false);
      for (const left of unfinished.splice(0)) left.return?.();
      expect(rows()).toEqual([]);
    }));

  it("no event that waits joins the transaction of a member that needs its own", () =>
    withWriter(async ({ writer, connection }) => {
      connection.database.exec(DEFERRED);
      const { runs, run } = recorded(writer);
      let late: Promise<string> | undefined;
      const first = run("first");
      const refused = run("refused", () => {
        // Its second run has its own transaction.
        if (runs.length > 2) late ??= run("late");
        connection.run("INSERT INTO child VALUES (1)");
      });
      await expect(refused).rejects.toMatchObject({ reason: "commit_failed" });
      expect([await first, await late]).toEqual(["first", "late"]);
      expect(runs).toEqual(["first", "refused", "first", "refused", "late"]);
    }));

  it("the writer calls an event in progress until its commit, and no longer", () =>
    withWriter(async ({ writer, path }) => {
      await writer.submit("e1", SOON(), () => undefined);
      const other = new DatabaseSync(path);
      try {
        other.exec("BEGIN IMMEDIATE");
        const late = writer.submit("e1", performance.now(), () => undefined);
        await expect(late).rejects.toMatchObject({
          name: "StoreError",
          reason: "unavailable",
          cause: { message: "database is locked" },
        });
        // Nothing waits for the lock any more.
        await writer.drain();
      } finally {
        other.close();
      }
    }));

  it("a task that may wait shares the commit of the next event", async () => {
    let commits = 0;
    await withWriter(
      async ({ writer, write }) => {
        const waiting = writer.submit(NO_EVENT, SOON(), () => "shared", {
          mayWait: true,
        });
        expect([await write(1), await waiting]).toEqual([1, "shared"]);
        expect(commits).toBe(1);
      },
      () => {
        commits += 1;
      },
    );
  });

  it("a task that may wait is committed where no event follows", () =>
    withWriter(async ({ connection, writer, rows }) => {
      const insert = () => connection.run("INSERT INTO t VALUES (1)").changes;
      expect(await writer.submit(NO_EVENT, SOON(), insert, { mayWait: true })).toBe(1);
      expect(rows()).toEqual([{ n: 1 }]);
    }));

  it("the writer commits a task that may wait before it has drained", () =>
    withWriter(async ({ connection, writer, rows }) => {
      const insert = () => connection.run("INSERT INTO t VALUES (1)").changes;
      void writer.submit(NO_EVENT, SOON(), insert, { mayWait: true });
      await writer.drain();
      expect(rows()).toEqual([{ n: 1 }]);
    }));

  it("a background task that reaches its deadline is unavailable, although another one is at work", () =>
    withWriter(async ({ writer }) => {
      const atWork = writer.submit(NO_EVENT, SOON(), async () => {
        await expect(writer.submit(NO_EVENT, performance.now(), () => undefined)).rejects.toMatchObject({
          reason: "unavailable",
        });
        return undefined;
      });
      await atWork;
    }));

  it("the members of a group that was lost run again before those that came after them", () =>
    withWriter(async ({ writer, connection }) => {
      connection.database.exec(DEFERRED);
      const { runs, run } = recorded(writer);
      const first = run("first");
      const refused = run("refused", () => {
        const old = performance.now() + GROUP_IS_OLD_MS;
        while (performance.now() < old);
        connection.run("INSERT INTO child VALUES (1)");
      });
      const later = run("later");
      await expect(refused).rejects.toMatchObject({ reason: "commit_failed" });
      await Promise.all([first, later]);
      expect(runs).toEqual(["first", "refused", "first", "refused", "later"]);
    }));

  it("the members of a group that was undone fail at their deadline, where another process has the lock by then", () =>
    withWriter(async ({ path, connection, writer }) => {
      const other = new DatabaseSync(path);
      const deadline = performance.now() + 200;
      const first = writer.submit("e1", deadline, () => 1);
      const second = writer.submit("e2", deadline, async () => {
        connection.run("INSERT INTO t VALUES (2)");
        // Meanwhile the queue looks for deadlines, and is empty.
        await sleep(60);
        setImmediate(() => other.exec("BEGIN IMMEDIATE"));
        throw new Error("of its own");
      });
      for (const end of await Promise.allSettled([first, second]))
        expect(end).toMatchObject({
          status: "rejected",
          reason: { name: "StoreError", reason: "unavailable", cause: { message: "database is locked" } },
        });
      other.close();
    }));

  it("a member that is at work past its deadline gets its result, once", () =>
    withWriter(async ({ writer, write }) => {
      let runs = 0;
      const soon = performance.now() + 10;
      const slow = writer.submit("slow", soon, async () => {
        runs += 1;
        await sleep(60);
        return "slow";
      });
      const others = [write(1), write(2)];
      expect(await slow).toBe("slow");
      expect(await Promise.all(others)).toEqual([1, 1]);
      expect(runs).toBe(1);
    }));

  it("the writer pauses between two groups: not during the one at work, and the next one waits for the end of the pause", () =>
    withWriter(async ({ writer }) => {
      const order: string[] = [];
      const work = Promise.withResolvers<void>();
      const [atWork, pausing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const submit = (name: string, until?: Promise<void>) =>
        writer.submit(name, SOON(), async () => {
          atWork.resolve();
          await until;
          order.push(name);
          return name;
        });
      const first = submit("first", work.promise);
      await atWork.promise;
      let next: Promise<string> | undefined;
      const paused = writer.pause(async () => {
        order.push("pause");
        next = submit("next");
        for (let turn = 0; turn < 5; turn += 1) await nextTurn();
        order.push("end of the pause");
        pausing.resolve();
      });
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      expect(order).toEqual([]);
      work.resolve();
      await Promise.all([first, paused, pausing.promise]);
      await next;
      expect(order).toEqual(["first", "pause", "end of the pause", "next"]);
    }));

  it("the writer calls an event whose handler failed in progress no longer, also while its group is at work", () =>
    withWriter(async ({ writer }) => {
      const failing = writer.submit("e1", SOON(), () => Promise.reject(new Error("of its own")));
      const slow = writer.submit("e2", SOON(), async () => {
        await expect(late).rejects.toMatchObject({ name: "StoreError", reason: "unavailable" });
        return "slow";
      });
      const late = writer.submit("e1", performance.now() + 5, () => undefined);
      await expect(failing).rejects.toThrow("of its own");
      expect(await slow).toBe("slow");
    }));

  it("a COMMIT refused for another cause than a constraint fails its whole group, and none of it runs again", () =>
    withWriter(async ({ writer, connection, rows }) => {
      let runs = 0;
      const insert = () => {
        runs += 1;
        refuse(connection, "COMMIT");
        return connection.run("INSERT INTO t VALUES (?)", runs).changes;
      };
      const both = [writer.submit("e1", SOON(), insert), writer.submit("e2", SOON(), insert)];
      for (const one of both) await expect(one).rejects.toMatchObject({ reason: "commit_failed" });
      expect(runs).toBe(2);
      connection.database.setAuthorizer(null);
      expect(rows()).toEqual([]);
    }));

  it("a group takes no more than 256 members", async () => {
    const commits: number[] = [];
    let members = 0;
    await withWriter(
      async ({ writer }) => {
        const all = Array.from({ length: 600 }, (_, index) =>
          writer.submit(`e${index}`, SOON(), () => {
            members += 1;
            return index;
          }),
        );
        expect((await Promise.all(all)).length).toBe(600);
      },
      () => commits.push(members),
    );
    const sizes = commits.map((until, index) => until - (commits[index - 1] ?? 0));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256);
  });
});

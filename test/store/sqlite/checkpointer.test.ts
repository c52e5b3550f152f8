import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import {
  CHECKPOINT_DEFAULTS,
  Checkpointer,
  type CheckpointOptions,
  type PauseWriter,
} from "../../../src/store/sqlite/checkpointer.ts";
import { Connection, WAL_SIZE_LIMIT_BYTES } from "../../../src/store/sqlite/connection.ts";
import { Flusher, openWal } from "../../../src/store/sqlite/flusher.ts";
import { Writer } from "../../../src/store/sqlite/writer.ts";

const LONG_LOG = 500;
const PAGE = 4_096;

interface Parts {
  readonly path: string;
  readonly writer: Writer;
  readonly connection: Connection;
  /** How often the writer has paused. */
  pauses(): number;
}

/** A writer whose log is looked after almost at once. */
async function withWriter(
  use: (parts: Parts) => Promise<void>,
  path = "x.db",
  rules: Partial<CheckpointOptions> = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-checkpointer-"));
  const file = join(folder, "x.db");
  const connection = new Connection(file);
  connection.database.exec("CREATE TABLE t (data blob)");
  const flusher = new Flusher(openWal(file));
  let pauses = 0;
  const pause: PauseWriter = (during) => {
    pauses += 1;
    return writer.pause(during);
  };
  const checkpointer = new Checkpointer(join(folder, path), pause, (cause) => void flusher.markFailed(cause), {
    ...CHECKPOINT_DEFAULTS,
    afterMs: 10,
    firstAfterCommits: 1,
    restartFrames: LONG_LOG,
    ...rules,
  });
  const writer = new Writer(connection, flusher, () => checkpointer.onCommit());
  try {
    await use({ path: file, writer, connection, pauses: () => pauses });
  } finally {
    await writer.drain();
    await checkpointer.close();
    await flusher.close();
    connection.close();
    await rm(folder, { recursive: true });
  }
}

/** A thread that does this at each message. */
function threadThat(does: string): Pick<CheckpointOptions, "code"> {
  const code = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${does} });`;
  return { code: new URL(`data:text/javascript,${encodeURIComponent(code)}`) };
}

/** One commit of some pages, unless it shall be of more. */
function write({ writer, connection }: Parts, bytes = 20_000): Promise<void> {
  return writer.submit(
    "",
    performance.now() + 10_000,
    () => void connection.run("INSERT INTO t VALUES (zeroblob(?))", bytes),
  );
}

function rowsIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare("SELECT count(*) AS n FROM t").get()?.n);
  } finally {
    database.close();
  }
}

describe("the write-ahead log of SQLite", () => {
  it("the first commits of a process wait for others, so that a short process starts no thread", async () => {
    vi.useFakeTimers();
    try {
      const checkpointer = new Checkpointer(
        "x.db",
        () => Promise.resolve(),
        () => {},
        {
          ...CHECKPOINT_DEFAULTS,
          firstAfterCommits: 4,
        },
      );
      const timers = Array.from({ length: 5 }, () => {
        checkpointer.onCommit();
        return vi.getTimerCount();
      });
      await checkpointer.close();
      expect(timers).toEqual([0, 0, 0, 1, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("the WAL starts again under writes that never stop", { tags: "full" }, () =>
    withWriter(async (parts) => {
      let written = 0;
      while (written < 60 * LONG_LOG * PAGE) {
        await Promise.all([write(parts), write(parts), write(parts)]);
        written += 3 * 5 * PAGE;
      }
      // The file keeps its longest length. How long that is depends on when a busy machine runs the other thread.
      expect((await stat(`${parts.path}-wal`)).size).toBeLessThan(written / 2);
    }),
  );

  it("the WAL shrinks to its limit after a reader kept it from starting again", { tags: "full" }, () =>
    withWriter(async (parts) => {
      const size = async () => (await stat(`${parts.path}-wal`)).size;
      const reader = new DatabaseSync(parts.path, { readOnly: true });
      try {
        reader.exec("BEGIN");
        reader.prepare("SELECT count(*) FROM t").get();
        while ((await size()) <= WAL_SIZE_LIMIT_BYTES) await write(parts, 2_000_000);
        reader.exec("ROLLBACK");
      } finally {
        reader.close();
      }
      const writeAndMeasure = () => write(parts).then(size);
      await expect.poll(writeAndMeasure, { timeout: 10_000 }).toBeLessThanOrEqual(WAL_SIZE_LIMIT_BYTES);
    }),
  );

  it("the WAL is copied into the database soon after a commit, without further writes", () =>
    withWriter(async (parts) => {
      await write(parts);
      await expect.poll(async () => (await stat(parts.path)).size).toBeGreaterThan(5 * PAGE);
    }));

  it("the WAL keeps what was committed where it cannot be copied", () =>
    withWriter(async (parts) => {
      await write(parts);
      await expect.poll(() => rowsIn(parts.path)).toBe(1);
      for (let turn = 0; turn < 100; turn += 1) await nextTurn();
      await write(parts);
      expect(rowsIn(parts.path)).toBe(2);
    }, "folder-that-is-missing/x.db"));

  it("a checkpoint thread that ends while the writer pauses for it delays no commit", () =>
    withWriter(
      async (parts) => {
        const writeAndCount = async () => {
          await write(parts);
          return parts.pauses();
        };
        await expect.poll(writeAndCount).toBeGreaterThan(1);
      },
      "x.db",
      // Two passes over a long log that grows no more; the third one is for the pause.
      threadThat(`globalThis.passes = (globalThis.passes ?? 0) + 1;
        if (passes === 3) process.exit(0); else parentPort.postMessage({ frames: ${LONG_LOG}, left: 0 });`),
    ));

  it("the writer accepts nothing more when a flush of the database failed during the WAL's copy", () =>
    withWriter(
      async (parts) => {
        await write(parts);
        await expect
          .poll(() => write(parts).catch((error: unknown) => error))
          .toMatchObject({ name: "StoreError", reason: "unavailable" });
      },
      "x.db",
      threadThat('parentPort.postMessage({ frames: 0, left: 0, flushFailed: "disk I/O error" })'),
    ));

  it("the WAL is copied no further after a failed flush, so that it cannot overwrite what the disk may lack", async () => {
    const failures: Error[] = [];
    const failed = Promise.withResolvers<void>();
    const checkpointer = new Checkpointer(
      "x.db",
      (during) => during(),
      (cause) => {
        failures.push(cause);
        failed.resolve();
      },
      {
        ...CHECKPOINT_DEFAULTS,
        afterMs: 1,
        firstAfterCommits: 1,
        ...threadThat(
          `parentPort.postMessage({ frames: ${CHECKPOINT_DEFAULTS.restartFrames}, left: 0, flushFailed: "disk I/O error" })`,
        ),
      },
    );
    checkpointer.onCommit();
    await failed.promise;
    await nextTurn();
    // It waits for the passes that have begun.
    await checkpointer.close();
    expect(failures).toHaveLength(1);
  });

  it("the checkpointer stops the writer for the last pass only, and not while a reader keeps frames from being copied", async () => {
    // The first answer is of a log that a reader holds; the pass says which one it was.
    const paused = await firstPause("{ frames: LONG + passes, left: passes === 1 ? 5 : 0 }");
    // One for the reader, two of a long log that grows no more, and the one during the pause.
    expect(paused).toEqual({ frames: CHECKPOINT_DEFAULTS.restartFrames + 4, left: 0 });
  });

  it("the checkpointer stops the writer after five passes over a log that grows as fast as it is copied", async () => {
    const paused = await firstPause("{ frames: LONG + 1_000 * passes, left: 0 }");
    expect(paused).toEqual({ frames: CHECKPOINT_DEFAULTS.restartFrames + 6_000, left: 0 });
  });
});

/** Commits until the writer was stopped once. @param answer of the thread, by its count of passes @returns the answer meanwhile */
async function firstPause(answer: string): Promise<unknown> {
  const paused = Promise.withResolvers<unknown>();
  const pause: PauseWriter = async (during) => paused.resolve(await during());
  const code = `globalThis.passes = (globalThis.passes ?? 0) + 1; parentPort.postMessage(${answer})`;
  const rules = threadThat(code.replaceAll("LONG", String(CHECKPOINT_DEFAULTS.restartFrames)));
  const checkpointer = new Checkpointer("x.db", pause, () => {}, {
    ...CHECKPOINT_DEFAULTS,
    afterMs: 1,
    firstAfterCommits: 1,
    ...rules,
  });
  const commits = setInterval(() => checkpointer.onCommit(), 2);
  try {
    return await paused.promise;
  } finally {
    clearInterval(commits);
    await checkpointer.close();
  }
}

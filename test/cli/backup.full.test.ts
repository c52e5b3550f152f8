import {
  chownSync,
  copyFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { encryptionKeyId } from "../../src/system/encryption.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { countOf } from "../support/effects.ts";
import { openTarget, type Target } from "../support/open-target.ts";
import { startServer } from "../support/process.ts";
import { payment } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { until } from "../support/until.ts";

interface Place {
  readonly folder: string;
  readonly target: Target;
  oncehook(...args: string[]): Promise<Ended>;
}

async function withPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-backup-"));
  const target: Target = { dialect: "sqlite", url: `sqlite:${join(folder, "live.db")}` };
  const env = {
    ...CHILD_ENVIRONMENT,
    DATABASE_URL: target.url,
  };
  try {
    await use({ folder, target, oncehook: (...args) => runCommandLine(args, env, folder) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NO_LIMITS = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

describe("a backup", () => {
  it(
    "a backup is complete although callbacks arrive, and a restore of it has all records up to then",
    { tags: "full" },
    () =>
      withPlace(async ({ folder, target, oncehook }) => {
        const copy = join(folder, "copy.db");
        const server = await startServer(target, NO_LIMITS);
        await server.send(payment({ event_id: "before" }));
        const sending = { goesOn: true, sent: 0 };
        const traffic = (async () => {
          while (sending.goesOn) {
            await server.send(payment({ event_id: `during-${sending.sent}` }));
            sending.sent += 1;
          }
        })();
        await until(() => sending.sent > 20);
        const { code, stdout, stderr } = await oncehook("backup", copy);
        expect([code, stderr]).toEqual([0, ""]);
        expect(stdout).toContain(`${copy} is a copy of ${join(folder, "live.db")}: environment test, `);
        sending.goesOn = false;
        await traffic;
        expect((await server.send(payment({ event_id: "after" }))).body).toMatchObject({ status: "success" });
        server.child.kill("SIGTERM");
        expect(await server.ended).toBe(0);
        expect(statSync(copy).mode & 0o777).toBe(0o600);

        const restored = await oncehook("restore", copy);
        expect([restored.code, restored.stderr]).toEqual([0, ""]);
        expect(restored.stdout).toMatch(/What was there is kept as \S+live\.db\.before-/);
        const again = await startServer(target, NO_LIMITS);
        expect((await again.send(payment({ event_id: "before" }))).body).toEqual({
          status: "already_processed",
        });
        expect((await again.send(payment({ event_id: "after" }))).body).toMatchObject({ status: "success" });
        again.child.kill("SIGTERM");
        expect(await again.ended).toBe(0);
        const kept = readdirSync(folder).find((name) => name.startsWith("live.db.before-")) ?? "";
        const old: Target = { dialect: "sqlite", url: `sqlite:${join(folder, kept)}` };
        expect(await countOf(old, "oncehook_records", "event_id = 'after'")).toBe(1);
      }),
  );

  it("a backup does not overwrite a file, and leaves nothing behind where it fails", () =>
    withPlace(async ({ folder, oncehook }) => {
      await oncehook("migrate");
      const copy = join(folder, "copy.db");
      writeFileSync(copy, "something else");
      const { code, stderr } = await oncehook("backup", copy);
      expect([code, stderr]).toEqual([1, `oncehook: ${copy} exists; name a file that does not\n`]);
      expect((await oncehook("backup", join(folder, "no-such-folder", "copy.db"))).code).toBe(1);
      expect(readdirSync(folder).sort()).toEqual(["copy.db", "live.db"]);
    }));
});

/** The command, on a file system that gives no file a second name. */
function withoutLinks(target: Target, ...args: string[]): Promise<Ended> {
  const preload = fileURLToPath(new URL("../fixtures/no-links.ts", import.meta.url));
  const env = { ...CHILD_ENVIRONMENT, DATABASE_URL: target.url, NODE_OPTIONS: `--import=${preload}` };
  return runCommandLine(args, env);
}

describe("on a file system without links", () => {
  it("a backup succeeds, and overwrites nothing", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const copy = join(folder, "copy.db");
      await oncehook("migrate");
      expect((await withoutLinks(target, "backup", copy)).code).toBe(0);
      expect((await oncehook("verify", copy)).code).toBe(0);
      expect((await withoutLinks(target, "backup", copy)).stderr).toContain("exists; name a file that does not");
      expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
    }));

  it("a restore names the remedy, and changes nothing", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const copy = join(folder, "copy.db");
      await oncehook("migrate");
      await oncehook("backup", copy);
      const before = statSync(join(folder, "live.db")).ino;
      const { code, stderr } = await withoutLinks(target, "restore", copy);
      expect([code, stderr]).toEqual([1, expect.stringContaining("Move it away yourself, with the receiver stopped")]);
      expect(statSync(join(folder, "live.db")).ino).toBe(before);
      expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
    }));
});

describe("a restore", () => {
  it("a restore is refused while the receiver serves, and changes nothing", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const copy = join(folder, "copy.db");
      const server = await startServer(target, NO_LIMITS);
      await oncehook("backup", copy);
      const { code, stderr } = await oncehook("restore", copy);
      expect(code).toBe(1);
      expect(stderr).toContain("is in use; stop the receiver first");
      expect((await server.send(payment({ event_id: "still-there" }))).body).toMatchObject({
        status: "success",
      });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    }));

  it.each([
    ["is cut off", (file: string) => truncateSync(file, 20_000)],
    ["is no database", (file: string) => writeFileSync(file, "a letter to my mother")],
  ])("a copy that %s is refused, and the restore changes nothing", (_title, spoil) =>
    withPlace(async ({ folder, target, oncehook }) => {
      const copy = join(folder, "copy.db");
      await oncehook("migrate");
      await oncehook("backup", copy);
      spoil(copy);
      const { code, stderr } = await oncehook("restore", copy);
      expect(code).toBe(1);
      expect(stderr).toContain(copy);
      expect(await countOf(target, "oncehook_records")).toBe(0);
      expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
    }),
  );
});

describe("a restore", () => {
  it("a restore is refused where one process has opened the database twice and closed it once", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      await oncehook("migrate");
      await oncehook("backup", join(folder, "copy.db"));
      const keys = { current: encryptionKeyId(Buffer.alloc(32, 7)), previous: [] };
      const options = { stamp: { environment: "test", keys } };
      const first = await openTarget(target, options);
      const second = await openTarget(target, options);
      await second.store.close();
      const { code, stderr } = await oncehook("restore", join(folder, "copy.db"));
      await first.store.close();
      expect([code, stderr]).toEqual([1, expect.stringContaining("is in use")]);
    }));

  it("a restore of the kept database undoes a restore", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const server = await startServer(target, NO_LIMITS);
      await server.send(payment({ event_id: "before" }));
      await oncehook("backup", join(folder, "copy.db"));
      await server.send(payment({ event_id: "after" }));
      server.child.kill("SIGKILL");
      await server.ended;
      await oncehook("restore", join(folder, "copy.db"));
      expect(await countOf(target, "oncehook_records")).toBe(1);
      const kept = readdirSync(folder).filter((name) => name.includes(".before-"));
      expect(kept).toHaveLength(1);
      const { code, stderr } = await oncehook("restore", join(folder, String(kept[0])));
      expect([code, stderr]).toEqual([0, ""]);
      expect(await countOf(target, "oncehook_records")).toBe(2);
    }));

  it("a copy of another environment is refused, and the restore changes nothing", () =>
    withPlace(async ({ folder, oncehook }) => {
      await oncehook("migrate");
      await oncehook("backup", join(folder, "copy.db"));
      const env = {
        ...CHILD_ENVIRONMENT,
        APP_ENV: "development",
        DATABASE_URL: `sqlite:${join(folder, "mine.db")}`,
      };
      const { code, stderr } = await runCommandLine(["restore", join(folder, "copy.db")], env, folder);
      expect(code).toBe(1);
      expect(stderr).toContain('copy.db is of the environment "test", and this is APP_ENV=development');
      expect(readdirSync(folder).filter((name) => name.startsWith("mine"))).toEqual([]);
    }));

  it("a restore of the database from itself is refused", () =>
    withPlace(async ({ folder, oncehook }) => {
      await oncehook("migrate");
      const { code, stderr } = await oncehook("restore", join(folder, "live.db"));
      expect([code, stderr]).toEqual([1, expect.stringContaining("is the database itself")]);
    }));

  it("a restore accepts a copy with a dangling foreign key in the user's own table, and reports it", () =>
    withPlace(async ({ folder, oncehook }) => {
      await oncehook("migrate");
      const database = new DatabaseSync(join(folder, "live.db"), { enableForeignKeyConstraints: false });
      database.exec(
        "CREATE TABLE item (id integer PRIMARY KEY, box integer REFERENCES item); INSERT INTO item VALUES (1, 7)",
      );
      database.close();
      await oncehook("backup", join(folder, "copy.db"));
      const { code, stdout } = await oncehook("restore", join(folder, "copy.db"));
      expect([code, stdout]).toEqual([0, expect.stringContaining("FAILURE foreign-keys: ")]);
    }));

  it("a restore keeps a link to the database a link", () =>
    withPlace(async ({ folder, oncehook }) => {
      await oncehook("migrate");
      await oncehook("backup", join(folder, "copy.db"));
      renameSync(join(folder, "live.db"), join(folder, "real.db"));
      symlinkSync("real.db", join(folder, "live.db"));
      expect((await oncehook("restore", join(folder, "copy.db"))).code).toBe(0);
      expect(readlinkSync(join(folder, "live.db"))).toBe("real.db");
      expect(readdirSync(folder).filter((name) => name.startsWith("real.db.before-"))).toHaveLength(1);
    }));
});

describe.runIf(process.getuid?.() === 0)("a restore by root", () => {
  it("a restore keeps the owner of the database", () =>
    withPlace(async ({ folder, oncehook }) => {
      const live = join(folder, "live.db");
      await oncehook("migrate");
      await oncehook("backup", join(folder, "copy.db"));
      chownSync(live, 12_345, 12_346);
      expect((await oncehook("restore", join(folder, "copy.db"))).code).toBe(0);
      expect(statSync(live)).toMatchObject({ uid: 12_345, gid: 12_346 });
    }));
});

describe("what was there before a restore", () => {
  it("the kept database keeps its WAL beside it, and the restored copy does not apply it", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const live = join(folder, "live.db");
      const copy = join(folder, "copy.db");
      await oncehook("migrate");
      await oncehook("backup", copy);
      const server = await startServer(target, NO_LIMITS);
      for (let at = 0; at < 20; at += 1) await server.send(payment({ event_id: `later-${at}` }));
      server.child.kill("SIGKILL");
      await server.ended;
      // What a person does first whose database is said to be damaged.
      renameSync(live, join(folder, "moved-away.db"));
      expect((await oncehook("restore", copy)).code).toBe(0);
      expect(readdirSync(folder).join(" ")).toMatch(/live\.db\.before-\S+-wal/);
      expect(await countOf(target, "oncehook_records")).toBe(0);
      expect((await oncehook("verify")).code).toBe(0);
    }));

  it("the kept database may be unreadable", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const copy = join(folder, "copy.db");
      await oncehook("migrate");
      await oncehook("backup", copy);
      writeFileSync(join(folder, "live.db"), "nothing that can be read\n".repeat(1_000));
      const { code, stdout, stderr } = await oncehook("restore", copy);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain("What was there is kept as");
      expect(await countOf(target, "oncehook_records")).toBe(0);
    }));

  it("a restore refuses a copy of a database in use, a part of which is in the WAL beside it", () =>
    withPlace(async ({ folder, target, oncehook }) => {
      const server = await startServer(target, NO_LIMITS);
      await server.send(payment());
      for (const end of ["", "-wal"]) copyFileSync(join(folder, `live.db${end}`), join(folder, `rescued.db${end}`));
      server.child.kill("SIGTERM");
      await server.ended;
      const { code, stderr } = await oncehook("restore", join(folder, "rescued.db"));
      expect(code).toBe(1);
      expect(stderr).toContain("rescued.db-wal holds a part of");
    }));
});

it("a backup of a PostgreSQL database is refused, and the message names pg_basebackup", async () => {
  const { code, stderr } = await runCommandLine(["backup", "copy.db"], {
    ...CHILD_ENVIRONMENT,
    DATABASE_URL: "postgres://127.0.0.1/nowhere",
  });
  expect(code).toBe(1);
  expect(stderr).toContain("pg_basebackup");
});

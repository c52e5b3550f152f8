import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { startServer } from "../support/process.ts";
import { payment, SECRET, TOKEN } from "../support/receiver.ts";

const folders: string[] = [];

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-permissions-"));
  folders.push(folder);
  return folder;
}

it("the folder of the database and the files in it are the owner's alone, whatever the umask", {
  tags: "full",
}, async () => {
  const parent = await folderOf();
  const folder = join(parent, "data");
  const before = process.umask(0);
  try {
    const server = await startServer({ dialect: "sqlite", url: `sqlite:${join(folder, "oncehook.db")}` });
    await server.send(payment());
    const modes = Object.fromEntries(
      readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
    );
    expect(modes).toEqual({
      "oncehook.db": 0o600,
      "oncehook.db-wal": 0o600,
      "oncehook.db-shm": 0o600,
      "oncehook.db-receivers": 0o600,
    });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    // What is given to it is not for everybody to see who lists the processes.
    if (process.platform === "linux") {
      const line = readFileSync(`/proc/${server.child.pid}/cmdline`, "utf8");
      expect([line.includes(SECRET), line.includes(TOKEN)]).toEqual([false, false]);
    }
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  } finally {
    process.umask(before);
  }
});

it("a receiver serves under Node's permission model, with its project to read and its data to write", {
  tags: "full",
}, async () => {
  const data = `${await folderOf()}/`;
  const project = fileURLToPath(new URL("../../", import.meta.url));
  const rights = [`--allow-fs-read=${project}`, `--allow-fs-read=${data}`, `--allow-fs-write=${data}`];
  const server = await startServer(
    { dialect: "sqlite", url: `sqlite:${join(data, "oncehook.db")}` },
    { NODE_OPTIONS: ["--permission", ...rights, "--allow-worker"].join(" ") },
  );
  try {
    expect((await server.send(payment())).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  } finally {
    server.child.kill("SIGKILL");
  }
});

it("a receiver that may not write its database does not start, and says so", { tags: "full" }, async () => {
  const data = `${await folderOf()}/`;
  const project = fileURLToPath(new URL("../../", import.meta.url));
  const started = startServer(
    { dialect: "sqlite", url: `sqlite:${join(data, "oncehook.db")}` },
    { NODE_OPTIONS: `--permission --allow-fs-read=${project} --allow-fs-read=${data}` },
  );
  await expect(started).rejects.toThrow(/DATABASE_URL: the database cannot be opened.*--allow-fs-write/s);
});

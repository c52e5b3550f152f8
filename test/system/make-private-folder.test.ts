import { mkdirSync, statSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePrivateFolder } from "../../src/system/files.ts";

it("makePrivateFolder makes all the folders of a path, for the owner alone, and leaves those that are there as they are", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-folder-"));
  mkdirSync(join(folder, "a"), { mode: 0o755 });
  makePrivateFolder(join(folder, "a/b/c"));
  makePrivateFolder(join(folder, "a/b/c"));
  expect(["a", "a/b", "a/b/c"].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o755, 0o700, 0o700]);
  await rm(folder, { recursive: true });
});

it("makePrivateFolder fails where a folder takes no other, instead of trying for ever", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-folder-"));
  symlinkSync(join(folder, "nowhere"), join(folder, "link"));
  expect(() => makePrivateFolder(join(folder, "link/data"))).toThrow("EEXIST");
  await rm(folder, { recursive: true });
});

it.runIf(process.platform === "linux")(
  "a private folder cannot be made in /proc, where the system says of a new folder that it is not there",
  () => {
    expect(() => makePrivateFolder("/proc/oncehook/data")).toThrow("ENOENT");
  },
);

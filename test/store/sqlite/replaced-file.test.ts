import { renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/system/index.ts";
import { openTarget } from "../../support/open-target.ts";

it("a database that another file takes the place of while it is opened is not served from", async () => {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-replaced-"));
  const path = join(folder, "live.db");
  const other = join(folder, "other.db");
  writeFileSync(other, "");
  // The schema is asked for the time once the file is open.
  const clock = {
    ...systemClock,
    now() {
      renameSync(other, path);
      return systemClock.now();
    },
  };
  await expect(openTarget({ dialect: "sqlite", url: `sqlite:${path}` }, { clock })).rejects.toThrow(
    `another file was put in the place of ${path} while it was opened`,
  );
  await rm(folder, { recursive: true });
});

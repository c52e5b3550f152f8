import { expect, it } from "vitest";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { withDatabase } from "../support/databases.ts";
import { startServer } from "../support/process.ts";
import { SECRET, TOKEN } from "../support/receiver.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const NEW_KEY = Buffer.alloc(32, 9).toString("base64");

type Run = (args: string[], env: Record<string, string>) => Promise<Ended>;

/** Lends a database that a receiver with KEY has used, and the command line on it. */
function onUsedDatabase(use: (run: Run) => Promise<void>): Promise<void> {
  return withDatabase("sqlite", async (target) => {
    const server = await startServer(target, { ENCRYPTION_KEY: KEY });
    server.child.kill("SIGTERM");
    await server.ended;
    const env = {
      PATH: process.env.PATH,
      APP_ENV: "test",
      SIGNING_SECRET: SECRET,
      ADMIN_TOKEN: TOKEN,
      DATABASE_URL: target.url,
      NO_COLOR: "1",
    };
    await use((args, over) => runCommandLine(args, { ...env, ...over }));
  });
}

it("a start and doctor refuse another ENCRYPTION_KEY than the database's", { tags: "full" }, () =>
  onUsedDatabase(async (run) => {
    const start = await run(["serve"], { ENCRYPTION_KEY: NEW_KEY });
    expect([start.code, start.stderr]).toEqual([
      1,
      expect.stringMatching(/^oncehook: ENCRYPTION_KEY: this database was last used with another key.+\n$/),
    ]);
    const doctor = await run(["doctor"], { ENCRYPTION_KEY: NEW_KEY });
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringContaining("FAILURE ENCRYPTION_KEY: this database was last used with another key"),
    ]);
    const rotating = await run(["doctor"], { ENCRYPTION_KEY: NEW_KEY, ENCRYPTION_KEY_PREVIOUS: KEY });
    expect(rotating.stdout).not.toContain("FAILURE");
  }),
);

it("migrate accepts a new ENCRYPTION_KEY after the old one was lost", { tags: "full" }, () =>
  onUsedDatabase(async (run) => {
    expect((await run(["migrate"], { ENCRYPTION_KEY: NEW_KEY })).code).toBe(1);
    expect((await run(["migrate", "--accept-new-key"], { ENCRYPTION_KEY: NEW_KEY })).code).toBe(0);
    expect((await run(["migrate"], { ENCRYPTION_KEY: NEW_KEY })).code).toBe(0);
    expect((await run(["doctor"], { ENCRYPTION_KEY: KEY })).stdout).toContain("FAILURE ENCRYPTION_KEY");
  }),
);

import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { strayEvent } from "../faults/driver/call.ts";
import { FaultyDisk } from "../faults/machine/disk-faults.ts";
import { NotRun } from "../faults/rounds/round.ts";
import { withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import type { Target } from "../support/open-target.ts";
import { launchServer, type ServerProcess, startServer } from "../support/process.ts";
import { until } from "../support/until.ts";

const LEDGER = fileURLToPath(new URL("../faults/ledger", import.meta.url));
const posting = (id: string, type = "ledger_posting") => JSON.parse(strayEvent(id, type)) as object;

const NO_LIMITS = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly err?: { message: string };
}

/** A receiver with the handlers of the fault rounds, and what it logs. */
async function withServer(
  use: (server: ServerProcess, log: () => Line[], target: Target) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await withDatabase("sqlite", async (target) => {
    const server = await startServer(target, env, LEDGER);
    let text = "";
    server.child.stdout?.on("data", (chunk) => {
      text += chunk;
    });
    const log = () =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Line);
    try {
      await use(server, log, target);
    } finally {
      server.child.kill("SIGKILL");
      await server.ended;
    }
  });
}

describe("an error that nobody catches", () => {
  it("an uncaught error is logged with its secrets masked, and ends the process with 1", () =>
    withServer(
      async (server, log) => {
        await server.send(posting("e1", "ledger_crashing")).catch(() => {});
        expect(await server.ended).toBe(1);
        const last = log().find(({ level }) => level === 60);
        expect(last?.msg).toContain("the state is unknown");
        expect(last?.err?.message).toMatch(/^this handler took the process down: password=(?!hunter2)/);
        expect(server.stderr()).not.toContain("hunter2");
      },
      { LEDGER_LAST_WORDS: "password=hunter2" },
    ));
});

describe("an endless loop", () => {
  it("an endless loop is logged and ends the process, because no time limit in its own thread can", () =>
    withServer(
      async (server, log) => {
        expect((await server.send(posting("e1", "ledger_looping"))).status).toBe(200);
        expect(await server.ended).toBe("SIGKILL");
        expect(log().find(({ level }) => level === 60)?.msg).toContain("the main thread was blocked");
      },
      { HANDLER_TIMEOUT_MS: "300" },
    ));
});

describe("a log that nobody reads", () => {
  it.each([
    ["SIGTERM", "it is asked to"],
    ["ledger_crashing", "nobody can catch an error"],
  ])("a log without a reader does not keep the process alive after %s", (how) =>
    withDatabase("sqlite", async (target) => {
      const { child, ended, ready } = await launchServer(target, NO_LIMITS, LEDGER);
      const server = await ready;
      // From here on its standard output fills, and blocks whoever writes to it.
      child.stdout?.removeAllListeners("data").pause();
      const answers = Array.from({ length: 1_000 }, (_, at) => server.send(posting(`e${at}`)));
      await Promise.all(answers);
      if (how === "SIGTERM") child.kill("SIGTERM");
      else await server.send(posting("last", how)).catch(() => {});
      // Its lines are more than a pipe holds: it waits for its reader, and then ends by its own signal.
      const late = setTimeout(() => child.kill("SIGQUIT"), 25_000);
      expect(await ended).toBe("SIGKILL");
      clearTimeout(late);
    }),
  );
});

describe("a promise that nobody awaits", () => {
  it("an unawaited promise that fails is logged, and the process goes on", () =>
    withServer(async (server, log, target) => {
      expect((await server.send(posting("e1", "ledger_rejecting"))).status).toBe(200);
      await until(() => log().some(({ msg }) => msg.startsWith("unhandled promise rejection")));
      expect((await server.send(posting("e2"))).status).toBe(200);
      expect(await countOf(target, "ledger_effects")).toBe(2);
    }));
});

/** Skips the test where this machine can have no such disk. */
async function withFaultyDisk(
  context: { skip(note?: string): never },
  use: (disk: FaultyDisk) => Promise<void>,
): Promise<void> {
  let disk: FaultyDisk;
  try {
    disk = new FaultyDisk();
  } catch (error) {
    if (error instanceof NotRun) return context.skip(error.message);
    throw error;
  }
  try {
    await use(disk);
  } finally {
    disk.destroy();
  }
}

describe("a disk that does not flush", () => {
  it("a failed flush ends the process before it acknowledges anything more, and the next process continues", (context) =>
    withFaultyDisk(context, (disk) =>
      withServer(async (server, log, target) => {
        expect((await server.send(posting("e1"))).status).toBe(200);
        disk.begin("does not flush");
        // A write of the receiver's own may meet the disk first: then the process has ended before it could answer.
        const refused = server.send(posting("e2")).then(({ status }) => status);
        expect([500, 503, "no answer"]).toContain(await refused.catch(() => "no answer"));
        expect(await server.ended).toBe(1);
        expect(log().find(({ level }) => level === 60)?.msg).toContain("flush of the WAL failed");
        disk.end();
        const next = await startServer(target, disk.env, LEDGER);
        try {
          expect((await next.send(posting("e1"))).body).toEqual({ status: "already_processed" });
          expect((await next.send(posting("e2"))).status).toBe(200);
          expect(await countOf(target, "ledger_effects", "times = 1")).toBe(2);
        } finally {
          next.child.kill("SIGTERM");
          await next.ended;
        }
      }, disk.env),
    ));
});

describe("a disk that is full", () => {
  it("a full disk makes a receiver on SQLite not ready, without any callback, until there is room again", (context) =>
    withFaultyDisk(context, (disk) =>
      withServer(async (server) => {
        const status = () => fetch(`${server.adminUrl}/readyz`).then((response) => response.status);
        expect(await status()).toBe(200);
        disk.begin("is full");
        await until(async () => (await status()) === 503);
        disk.end();
        await until(async () => (await status()) === 200);
        expect((await server.send(posting("e1"))).status).toBe(200);
      }, disk.env),
    ));
});

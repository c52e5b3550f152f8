import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeFullOnPostgres, fullOnPostgres, type Target, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { withNpmStart } from "../support/npm-start.ts";
import { launchServer, type ServerProcess, startServer } from "../support/process.ts";
import { event, payment } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const UNLIMITED = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off" };

describeFullOnPostgres("oncehook serve on %s", (dialect) => {
  it(
    "a receiver serves all of SPEC 4 with nothing but secrets, ports and a database set",
    { tags: fullOnPostgres(dialect) },
    () =>
      withDatabase(dialect, async (target) => {
        const server = await startServer(target);
        const first = payment();
        expect(await server.send(first)).toEqual({
          status: 200,
          body: { status: "success", data: { order_id: "o1" } },
        });
        expect(await server.send(first)).toEqual({ status: 200, body: { status: "already_processed" } });
        expect((await server.send(event("user_authorized", { code: "c", user_id: "u1" }))).body).toMatchObject({
          data: { user_id: "u1" },
        });
        expect((await server.send(event("webhook_message", { message: "hello" }))).status).toBe(200);
        expect((await server.send(event("nobody_knows", {}))).status).toBe(400);
        server.child.kill("SIGTERM");
        expect(await server.ended).toBe(0);
      }),
  );

  it("a receiver drains at SIGTERM, finishes its callbacks, and exits 0", { tags: fullOnPostgres(dialect) }, () =>
    withDatabase(dialect, async (target) => {
      const server = await startServer(target, UNLIMITED);
      const answers = Array.from({ length: 100 }, () => server.send(payment()).catch(() => undefined));
      await Promise.race(answers);
      const begun = performance.now();
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
      expect(performance.now() - begun).toBeLessThan(10_000);
      const succeeded = (await Promise.all(answers)).filter((answer) => answer?.status === 200).length;
      expect(succeeded).toBeGreaterThan(0);
      expect(await countOf(target, "oncehook_records")).toBe(succeeded);
    }),
  );

  it(
    "a receiver that is killed under load loses and doubles nothing: every acknowledged event has one effect",
    { tags: "full" },
    () =>
      withDatabase(dialect, async (target) => {
        const book = new Map(Array.from({ length: 400 }, (_, index) => [`kill-${index}`, false]));
        for (let round = 0; round < 3; round += 1) {
          const server = await startServer(target, UNLIMITED);
          await deliverUntilKilled(server, book, round === 2 ? Number.POSITIVE_INFINITY : 60 + round * 40);
          if (round < 2)
            await expectOneEffectEach(
              target,
              [...book].filter(([, acknowledged]) => acknowledged).map(([id]) => id),
            );
          else {
            server.child.kill("SIGTERM");
            await server.ended;
          }
        }
        expect([...book.values()].every((acknowledged) => acknowledged)).toBe(true);
        await expectOneEffectEach(target, [...book.keys()]);
        expect(await countOf(target, "oncehook_records")).toBe(400);
        expect(await countOf(target, "oncehook_notifications")).toBe(400);
        expect(await countOf(target, "oncehook_records", "status = 'processing'")).toBe(0);
      }),
  );
});

/** From a signal on no database can be closed, as where its file is gone. */
const NOT_CLOSING = `import { DatabaseSync } from "node:sqlite";
process.once("SIGTERM", () => {
  DatabaseSync.prototype.close = () => {
    throw new Error("the database does not close");
  };
});
export default {};
`;

describe("the first lines of a start", () => {
  it("the start prints the address of each source, and a command that sends to one", { tags: "full" }, () =>
    withDatabase("sqlite", async (target) => {
      const sources = {
        SOURCES: "stripe,github",
        STRIPE_SECRET: "whsec_of_a_test",
        GITHUB_SECRET: "a-secret",
      };
      const server = await startServer(target, { APP_ENV: "development", ...sources });
      expect(server.stderr()).toMatch(/^Source stripe at http:\/\/\S+\/api\/stripe\/callback$/m);
      expect(server.stderr()).toMatch(/^Source github at http:\/\/\S+\/api\/github\/callback$/m);
      expect(server.stderr()).toMatch(/^Try it: .+ send --source stripe account.application.authorized$/m);
      server.child.kill("SIGTERM");
      await server.ended;
    }),
  );
});

describe("a stop that fails", () => {
  it(
    "a receiver whose store does not close logs why, and exits with 1 before the drain's time limit",
    { tags: "full" },
    () =>
      withDatabase("sqlite", async (target) => {
        const folder = await mkdtemp(join(tmpdir(), "oncehook-serve-"));
        try {
          await writeFile(join(folder, "oncehook.config.ts"), NOT_CLOSING);
          const { child, ended, lastWords, ready } = await launchServer(target, {}, folder);
          await ready;
          child.kill("SIGTERM");
          expect(await ended).toBe(1);
          await until(() => lastWords().includes("stopped with errors"));
          expect(lastWords()).toContain("the database does not close");
          expect(lastWords()).not.toContain("did not finish");
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
  );
});

describe("npm start", () => {
  it(
    "npm start forwards SIGTERM, so that the receiver drains and npm exits 0, with a complete log in order",
    { tags: "full" },
    () =>
      withDatabase("sqlite", (target) =>
        withNpmStart(target, async ({ adminUrl, stop }) => {
          const { ending, messages } = await stop();
          expect(ending).toEqual([0, null]);
          expect(messages.slice(-3)).toEqual(["serving", "draining", "stopped"]);
          await expect(fetch(`${adminUrl}/healthz`)).rejects.toThrow();
        }),
      ),
  );
});

/** Delivers every event, acknowledged ones again, and kills the process after so many answers. */
async function deliverUntilKilled(server: ServerProcess, book: Map<string, boolean>, killAfter: number): Promise<void> {
  let answers = 0;
  const ids = [...book.keys()].sort((a, b) => Number(book.get(a)) - Number(book.get(b)));
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let index = worker; index < ids.length; index += 16) {
        const id = ids[index]!;
        const answer = await server
          .send(payment({ event_id: id, timestamp: 1 }, { order_id: id }))
          .catch(() => undefined);
        if (answer === undefined) return;
        expect(answer.status).toBe(200);
        book.set(id, true);
        answers += 1;
        if (answers === killAfter) server.child.kill("SIGKILL");
      }
    }),
  );
  if (killAfter !== Number.POSITIVE_INFINITY) expect(await server.ended).toBe("SIGKILL");
}

async function expectOneEffectEach(target: Target, ids: string[]): Promise<void> {
  const rows = await rowsOf(target, "SELECT event_id, count(*) AS n FROM oncehook_notifications GROUP BY event_id");
  const effects = new Map(rows.map((row) => [row.event_id, Number(row.n)]));
  expect(ids.filter((id) => effects.get(id) !== 1)).toEqual([]);
}

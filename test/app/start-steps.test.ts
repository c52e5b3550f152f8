import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { assemble } from "../../src/app/assemble.ts";
import { start } from "../../src/app/index.ts";
import { receiveParts } from "../../src/app/receive-parts.ts";
import { UndoSteps } from "../../src/app/undo-steps.ts";
import { RequestSequence, UnverifiedBodies } from "../../src/receive/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { postCallback } from "../../src/testing/post-callback.ts";
import { databaseFile, withDatabase, withMigrated } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { withHttpServer } from "../support/http-server.ts";
import { nodeExchange } from "../support/node-exchange.ts";
import type { Target } from "../support/open-target.ts";
import { payment, SECRET, startReceiver, testConfig } from "../support/receiver.ts";

const TRACING = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", LOG_LEVEL: "debug" };

/** Each undoes the one after it first. */
const ASSEMBLED = ["late handlers", "metrics", "captured callbacks", "callback log", "store", "tracing"];
const ADMIN = ["admin listener", "admin connections", ...ASSEMBLED];
const LISTENING = ["public listener", "background work", ...ADMIN];

const closed = (lines: readonly Record<string, unknown>[]) =>
  lines.filter(({ msg }) => msg === "closed").map(({ part }) => part);

async function failedStart(target: Target, env: Record<string, string>, sources = {}) {
  const config = testConfig(target, { ...TRACING, ...env }, { sources });
  const { logger, lines } = capturedLog(config);
  await expect(start(config, { logger })).rejects.toThrow();
  return closed(lines);
}

/** A port of the loopback address that another listener has. */
const withUsedPort = (use: (port: string) => Promise<void>) =>
  withHttpServer(
    () => {},
    (origin) => use(new URL(origin).port),
  );

describe("the steps of a start", () => {
  it("a stop closes the public listener before the rounds under way, then the admin listener, then the store", () =>
    withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target, { env: TRACING });
      await receiver.stop();
      expect(closed(receiver.lines)).toEqual(["health", "new rounds", ...LISTENING]);
    }));

  it("a start whose certificate cannot be read opens nothing", () =>
    withDatabase("sqlite", async (target) => {
      const missing = { TLS_CERT_FILE: "/nowhere/cert.pem", TLS_KEY_FILE: "/nowhere/key.pem" };
      expect(await failedStart(target, missing)).toEqual([]);
    }));

  it("a start whose database cannot be opened closes tracing", () =>
    withDatabase("sqlite", async (target) => {
      const path = join(databaseFile(target), "a-file-is-no-folder.db");
      await startReceiver(target).then((receiver) => receiver.stop());
      expect(await failedStart(target, { DATABASE_URL: `sqlite:${path}` })).toEqual(["tracing"]);
    }));

  it("a start whose source cannot be made closes the store", () =>
    withDatabase("sqlite", async (target) => {
      const createScheme = () => {
        throw new Error("no key");
      };
      const source = { ...stripe({ secret: "whsec_of_a_start_that_fails" }), createScheme };
      expect(await failedStart(target, {}, { shop: source })).toEqual(["store", "tracing"]);
      await startReceiver(target).then((receiver) => receiver.stop());
    }));

  it("a start whose admin port is in use closes what it has assembled", () =>
    withDatabase("sqlite", async (target) => {
      await withUsedPort(async (port) => expect(await failedStart(target, { ADMIN_PORT: port })).toEqual(ADMIN));
      await startReceiver(target).then((receiver) => receiver.stop());
    }));

  it("a start whose public port is in use closes the admin listener too", () =>
    withDatabase("sqlite", async (target) => {
      await withUsedPort(async (port) => expect(await failedStart(target, { PORT: port })).toEqual(LISTENING));
      await startReceiver(target).then((receiver) => receiver.stop());
    }));

  it("a start whose database refuses a write after the listeners are open closes both", () =>
    withDatabase("sqlite", async (target) => {
      await startReceiver(target).then((receiver) => receiver.stop());
      const database = new DatabaseSync(databaseFile(target));
      database.exec(
        "DELETE FROM oncehook_settings WHERE name = 'base_url'; CREATE TRIGGER refusal BEFORE INSERT ON oncehook_settings " +
          "WHEN NEW.name = 'base_url' BEGIN SELECT RAISE(ABORT, 'refused'); END",
      );
      database.close();
      expect(await failedStart(target, {})).toEqual(LISTENING);
    }));
});

it.each(["sqlite", "postgres"] as const)(
  "an assembled receiver handles a callback, with no listener and no round of its own: %s",
  (dialect) =>
    withMigrated(dialect, async (target) => {
      const config = testConfig(target);
      const { logger } = capturedLog(config);
      const undo = new UndoSteps(logger);
      const assembled = await assemble(config, { logger }, undo);
      const { options, dependencies } = receiveParts(assembled, { hasTls: false, requireHttps: false });
      const bodies = new UnverifiedBodies(options.maxUnverifiedBytes, options.maxBodyBytes);
      const sequence = new RequestSequence(options, dependencies, bodies);
      const event = payment({ event_id: "evt_assembled" });
      const sent = { type: "payment_notify", body: Buffer.from(JSON.stringify(event)), headers: {} };
      await withHttpServer(
        (message, response) => sequence.start(nodeExchange(message, response)),
        async (origin) => {
          const url = `${origin}/api/platform/callback`;
          expect(await postCallback(url, SECRET, sent)).toMatchObject({ status: 200 });
        },
      );
      await assembled.background.runDue();
      await undo.run();
      expect(await countOf(target, "oncehook_records", "status = 'completed'")).toBe(1);
      expect(await countOf(target, "oncehook_settings", "name = 'base_url'")).toBe(0);
    }),
);

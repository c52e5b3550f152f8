import { DatabaseSync } from "node:sqlite";
import { start } from "../src/app/index.ts";
import { loadConfig } from "../src/config/index.ts";
import { defineHandler, type Handler } from "../src/handlers/index.ts";
import type { SourceDefinition } from "../src/sources/index.ts";
import type { Migration } from "../src/store/index.ts";
import { capturedLog } from "../src/testing/captured-log.ts";
import { testEnvironment } from "../src/testing/start-test-receiver.ts";

/** The one that the proofs' handshakes expect. */
export const REGISTERED_ORIGIN = "https://callbacks.example";

type Tables = { effects: { source: string; event_id: string; event_type: string } };

/** Without a key: a second effect of an event is a second row. */
const EFFECTS: Migration = {
  name: "demo-effects",
  async up({ query }) {
    const table = query.schema.createTable("effects").addColumn("source", "text");
    await table.addColumn("event_id", "text").addColumn("event_type", "text").execute();
  },
};

function countsEffects(source: string): Handler {
  return defineHandler<Tables>()({
    source,
    type: "*",
    migrations: [EFFECTS],
    async handle({ event: { event_id, event_type }, tx }) {
      await tx.query.insertInto("effects").values({ source, event_id, event_type }).execute();
      return {};
    },
  });
}

/** A subscription is confirmed by a visit to the platform, which knows nothing of a demo. */
function withoutVisits(definition: SourceDefinition): SourceDefinition {
  return {
    ...definition,
    createContract: (environment) =>
      definition.createContract({ ...environment, visit: async () => {} } as typeof environment),
  };
}

export interface DemoReceiver {
  /** Where it listens, without a path. */
  readonly origin: string;
  /** How many effects the events of each source had. */
  countEffects(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** A receiver with these sources, one handler for each, and SQLite in this file. */
export async function startDemoReceiver(
  databaseFile: string,
  sources: Readonly<Record<string, SourceDefinition>>,
): Promise<DemoReceiver> {
  const offline = Object.entries(sources).map(([name, definition]) => [name, withoutVisits(definition)]);
  const store = { DATABASE_URL: `sqlite:${databaseFile}`, CALLBACK_BASE_URL: REGISTERED_ORIGIN };
  const config = loadConfig({ ...testEnvironment(), ...store }, { sources: Object.fromEntries(offline) });
  const handlers = Object.keys(sources).map(countsEffects);
  const running = await start(config, { handlers, logger: capturedLog(config).logger });
  return {
    origin: running.publicOrigin,
    countEffects: () => countEffects(databaseFile),
    stop: running.stop,
  };
}

function countEffects(file: string): ReadonlyMap<string, number> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare("SELECT source, count(*) AS n FROM effects GROUP BY source").all();
    return new Map(rows.map(({ source, n }) => [String(source), Number(n)]));
  } finally {
    database.close();
  }
}

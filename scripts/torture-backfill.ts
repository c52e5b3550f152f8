/**
 * `npm run torture:backfill -- [--events 100000] [--kills 10] [--rate 1000]`: a backfill of stored events on both databases,
 * while live events and redeliveries of the stored ones arrive and its process is killed. Each event must have one effect.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runKilledBackfill } from "../test/support/killed-backfill.ts";
import type { Target } from "../test/support/open-target.ts";
import { startPostgresProcess } from "../test/support/postgres-process.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "100000" },
    kills: { type: "string", default: "10" },
    rate: { type: "string", default: "1000" },
  },
});
const asked = { events: Number(values.events), kills: Number(values.kills), perSecond: Number(values.rate) };

async function runOn(target: Target): Promise<void> {
  const startedAt = performance.now();
  const log = (line: string) => void process.stdout.write(`${target.dialect}: ${line}\n`);
  const { counts, ...ended } = await runKilledBackfill(target, { ...asked, log });
  log(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s, ${JSON.stringify({ ...counts, ...ended })}`);
  if (ended.withoutEffect + ended.doubled + ended.failures > 0) process.exitCode = 1;
}

const folder = await mkdtemp(join(tmpdir(), "oncehook-backfill-"));
try {
  await runOn({ dialect: "sqlite", url: `sqlite:${join(folder, "backfill.db")}` });
  const postgres = await startPostgresProcess();
  try {
    await runOn({ dialect: "postgres", url: postgres.url });
  } finally {
    await postgres.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

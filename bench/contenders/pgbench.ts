import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Load } from "../load/wrk.ts";
import { withClient } from "../machine/postgres.ts";
import { percentile } from "../report/summary.ts";
import { schemaFor } from "../servers/schema.ts";
import { insertCallback, insertNotification, insertRecord, upsertOrder } from "../servers/statements.ts";
import { type Contender, type Place, serving } from "./contender.ts";

const run = promisify(execFile);

export const pgbench = contender("pgbench", "pgbench, one transaction an event", false);
export const pgbenchPipeline = contender("pgbench-pipeline", "pgbench, the transaction as one pipeline", true);

/** The database's own limit: the statements of a payment without HTTP, JSON or signatures around them. */
function contender(name: string, title: string, isPipelined: boolean): Contender {
  return {
    name,
    title,
    store: "postgres",
    isIdempotent: false,
    async version() {
      try {
        return (await run("pgbench", ["--version"])).stdout.trim();
      } catch (cause) {
        throw new Error("pgbench is not there; on Debian: apt-get install postgresql-contrib", { cause });
      }
    },
    async start({ databaseUrl }) {
      await withClient(databaseUrl, async (client) => {
        for (const statement of schemaFor("postgres")) await client.query(statement);
      });
      return serving([], []);
    },
    drive: (place, load) => drive(place, load, isPipelined),
  };
}

async function drive(
  { folder, databaseUrl }: Place,
  { seconds, connections }: { seconds: number; connections: number },
  isPipelined: boolean,
): Promise<Load> {
  const script = join(folder, "payment.pgbench");
  writeFileSync(script, transaction(isPipelined));
  const shape = ["-n", "-M", "prepared", "-c", String(connections), "-j", "2", "-T", String(seconds)];
  const { stdout } = await run("pgbench", [...shape, "-l", "-f", script, databaseUrl], { cwd: folder });
  const rate = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(stdout)?.[1] ?? 0);
  const latencies = latenciesIn(folder);
  const none = { connect: 0, read: 0, write: 0, timeout: 0, wrapped: 0, unavailable: 0, other: 0 };
  return {
    ...none,
    requests: latencies.length,
    seconds: latencies.length / rate,
    accepted: latencies.length,
    status: failed,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    p999: percentile(latencies, 99.9),
  };
}

/** A line of pgbench's log is a transaction; its third number is how long it took, in microseconds. */
function latenciesIn(folder: string): number[] {
  const files = readdirSync(folder).filter((name) => name.startsWith("pgbench_log."));
  const latencies = files.flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => Number(line.split(" ")[2]) / 1000);
  });
  for (const name of files) rmSync(join(folder, name));
  return latencies;
}

function transaction(isPipelined: boolean): string {
  const eventId = "md5(:id::text)";
  const texts = { source: "'platform'", event_type: "'payment_notify'", event_id: eventId };
  const result = `'{"status": "success", "data": {"order_id": "order-0123456789abcdef"}}'`;
  const body = `'{"event_id": "${"0".repeat(36)}", "timestamp": 1, "data": {"order_id": "order-0123456789abcdef", "amount": 12.5, "currency": "EUR"}}'`;
  const headers = `'{"host": "bench", "content-type": "application/json", "x-event-type": "payment_notify", "x-signature": "***", "content-length": "190"}'`;
  const statements = [
    insertRecord({
      ...texts,
      version: "'v1'",
      status: "'completed'",
      body_sha256: `'${"0".repeat(64)}'`,
      result,
      created_at: "now()",
      processed_at: "now()",
    }),
    upsertOrder({
      order_id: `'order-' || ${eventId}`,
      status: "'paid'",
      amount: "12.5",
      event_id: eventId,
      updated_at: "now()",
    }),
    insertNotification({
      ...texts,
      position: "1",
      topic: "'order.paid'",
      payload: result,
      created_at: "now()",
    }),
    insertCallback({
      ...texts,
      request_id: eventId,
      received_at: "now()",
      method: "'POST'",
      url: "'/api/platform/callback'",
      remote_address: "'127.0.0.1'",
      request_headers: headers,
      request_body: body,
      outcome: "'success'",
      response_status: "200",
      response_body: result,
      processing_ms: "1.5",
      with_record: "1",
    }),
  ].map((text) => `${text.replaceAll(/\s+/g, " ")};`);
  const [begin, end] = isPipelined ? ["\\startpipeline", "\\endpipeline"] : [];
  const lines = ["\\set id random(1, 9000000000000000000)", begin, "BEGIN;", ...statements, "COMMIT;", end];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n`;
}

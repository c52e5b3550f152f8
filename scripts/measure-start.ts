/**
 * `npm run measure:start`, after `npm run build:package`: how long the built command takes from its start to its end. Some
 * commands ask no receiver, others one that runs in this process on SQLite. The goals are medians of 0.3 s and 0.45 s.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type RunningReceiver, start } from "../src/app/index.ts";
import { temporaryDatabase } from "../src/app/open-store.ts";
import { loadConfig } from "../src/config/index.ts";
import { capturedLog } from "../src/testing/captured-log.ts";
import { postCallback } from "../src/testing/post-callback.ts";
import { testEnvironment } from "../src/testing/start-test-receiver.ts";
import { row } from "./measure/report.ts";

const COMMAND = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const TOKEN = "measure-start-token";
const SECRET = "measure-start-secret-of-32-bytes";
const CALLBACKS = 100;
const [GOAL_ALONE_S, GOAL_ASKING_S] = [0.3, 0.45];
const ALONE = [["--version"], ["--help"]];
const ASKING = [["find", "order-7"], ["show", "evt_7"], ["problems"], ["status"]];

const { values } = parseArgs({ options: { runs: { type: "string", default: "20" } } });
const runs = Number(values.runs);

/** @returns how many seconds it took */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`oncehook ${args.join(" ")} ended with ${code}, expected 0`);
  return (performance.now() - startedAt) / 1_000;
}

/** The commands in turns, so that each meets the same machine. @returns whether each met the goal */
async function measure(commands: readonly string[][], env: NodeJS.ProcessEnv, goal: number): Promise<boolean> {
  const took = commands.map((): number[] => []);
  for (let turn = 0; turn < runs; turn += 1)
    for (const [index, args] of commands.entries()) took[index]?.push(await run(args, env));
  const medians = took.map((times) => times.toSorted((one, other) => one - other)[Math.floor(runs / 2)] ?? 0);
  for (const [index, median] of medians.entries()) {
    const [shortest, longest] = [Math.min(...(took[index] ?? [])), Math.max(...(took[index] ?? []))];
    row(
      `\`oncehook ${commands[index]?.join(" ")}\``,
      ...[median, shortest, longest, goal].map((time) => time.toFixed(2)),
    );
  }
  return medians.every((median) => median <= goal);
}

async function fill({ publicOrigin }: RunningReceiver): Promise<void> {
  for (let number = 1; number <= CALLBACKS; number += 1) {
    const data = { order_id: `order-${number}`, amount: 1 };
    const timestamp = Math.floor(Date.now() / 1_000);
    const event = { event_id: `evt_${number}`, event_type: "payment_notify", timestamp, data };
    await postCallback(`${publicOrigin}/api/platform/callback`, SECRET, { body: Buffer.from(JSON.stringify(event)) });
  }
}

const { url, remove } = await temporaryDatabase(undefined);
const settings = { ...testEnvironment(), ADMIN_TOKEN: TOKEN, SIGNING_SECRET: SECRET, DATABASE_URL: url };
const config = loadConfig(settings);
const receiver = await start(config, { logger: capturedLog(config).logger });
try {
  await fill(receiver);
  const env = { PATH: process.env.PATH, ADMIN_TOKEN: TOKEN, ADMIN_PORT: new URL(receiver.adminOrigin).port };
  row("command", "median s", "shortest", "longest", "goal");
  row("---", "---:", "---:", "---:", "---:");
  const isAloneMet = await measure(ALONE, env, GOAL_ALONE_S);
  const isAskingMet = await measure(ASKING, env, GOAL_ASKING_S);
  process.exitCode = isAloneMet && isAskingMet ? 0 : 1;
} finally {
  await receiver.stop();
  await remove();
}

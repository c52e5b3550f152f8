import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { LogLine } from "../src/testing/captured-log.ts";
import { installed } from "../test/deploy/packed.ts";
import { VARIABLES } from "../test/support/application.ts";
import { freePort } from "../test/support/free-port.ts";
import { until } from "../test/support/until.ts";
import type { BuiltApplication, Start } from "./built-applications.ts";

const run = promisify(execFile);
const { PATH, HOME } = process.env;
/** None of an application's variables. */
const BARE = { PATH, HOME, CI: "1", NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };
const START_MS = 60_000;
const STOP_MS = 30_000;
const LEVELS: Record<number, string> = { 40: "warn", 50: "error", 60: "error" };

export interface Server {
  readonly origin: string;
  /** What the receivers have logged so far. */
  readonly lines: readonly LogLine[];
}

interface Given {
  readonly env: NodeJS.ProcessEnv;
  readonly use: (server: Server) => Promise<void>;
}

/** Installs the application's packages with the archive, and writes its files. */
export async function install(application: BuiltApplication, place: string, archive: string): Promise<void> {
  await installed(place, [archive, ...application.packages]);
  await writeFiles(place, application.files);
}

export async function writeFiles(place: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
}

/** Builds without a variable of the application, and without a database. */
export async function build([program = "", ...args]: readonly string[], place: string): Promise<void> {
  await run(join(place, "node_modules/.bin", program), args, { cwd: place, env: BARE, maxBuffer: 1 << 26 });
}

/** Lends the started application; it has to end by itself after SIGTERM, as in a deployment. */
export async function withServer(start: BuiltApplication["start"], place: string, { env, use }: Given): Promise<void> {
  const port = await freePort();
  const { child, lines } = spawned(start(port), place, env);
  try {
    const origin = `http://127.0.0.1:${port}`;
    await until(() => child.exitCode !== null || answers(origin), START_MS);
    await use({ origin, lines });
  } finally {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit", { signal: AbortSignal.timeout(STOP_MS) });
    }
  }
}

function spawned({ args, variables }: Start, place: string, given: NodeJS.ProcessEnv) {
  const env = { ...BARE, ONCEHOOK_ENCRYPTION_KEY: VARIABLES.ENCRYPTION_KEY, ...variables, ...given };
  const child: ChildProcess = spawn(process.execPath, args, { cwd: place, env, stdio: ["ignore", "pipe", "inherit"] });
  const lines: LogLine[] = [];
  createInterface({ input: child.stdout! }).on("line", (text) => {
    // The framework writes lines too.
    if (!text.startsWith("{")) return;
    const { level, ...line } = JSON.parse(text);
    lines.push({ ...line, level: LEVELS[level] });
  });
  return { child, lines };
}

function answers(origin: string): Promise<boolean> {
  return fetch(origin).then(
    () => true,
    () => false,
  );
}

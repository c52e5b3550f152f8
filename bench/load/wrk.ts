import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** What came of a load: counts, and latencies in milliseconds. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Answers of 400 and above. */
  readonly status: number;
  readonly connect: number;
  readonly read: number;
  readonly write: number;
  readonly timeout: number;
  /** How often the file of events ended and was read again. */
  readonly wrapped: number;
  /** Answers below 300, of 503 and all others; counted only where that is asked for, since it costs wrk time. */
  readonly accepted: number;
  readonly unavailable: number;
  readonly other: number;
}

export interface WrkRun {
  readonly url: string;
  readonly events: string;
  readonly connections: number;
  readonly seconds: number;
  readonly isIdempotent: boolean;
  /** Requests a second over all connections; as many as can be when left out. */
  readonly rate?: number | undefined;
  readonly countsStatuses?: boolean;
}

const SCRIPT = fileURLToPath(new URL("post.lua", import.meta.url));
/** A slow answer is a latency, not an error, until it takes this long. */
const TIMEOUT = "10s";
const run = promisify(execFile);

export async function wrk(options: WrkRun): Promise<Load> {
  const { url, events, connections, seconds, isIdempotent, rate, countsStatuses = false } = options;
  const script = [
    events,
    ...(isIdempotent ? ["idempotent=1"] : []),
    ...(rate === undefined ? [] : [`rate=${rate}`]),
    ...(countsStatuses ? ["statuses=1"] : []),
  ];
  const shape = ["-t1", `-c${connections}`, `-d${Math.ceil(seconds)}s`, "--timeout", TIMEOUT];
  const running = run("wrk", [...shape, "--latency", "-s", SCRIPT, url, "--", ...script]);
  const end = () => running.child.kill();
  process.once("exit", end);
  const { stdout } = await running.finally(() => process.off("exit", end));
  const line = /^RESULT (\{.*\})$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk did not report: ${stdout.trim().slice(-300)}`);
  const { microseconds, ...load } = JSON.parse(line) as Load & { microseconds: number };
  return { ...load, seconds: microseconds / 1e6 };
}

/** The version of wrk, or undefined where there is none. */
export async function wrkVersion(): Promise<string | undefined> {
  try {
    await run("wrk", ["-v"]);
    return undefined;
  } catch (error) {
    // It prints its version and ends with 1, as it has no address to load.
    const { stdout = "", code } = error as { stdout?: string; code?: unknown };
    return code === "ENOENT" ? undefined : (stdout.split("\n")[0] ?? "").replace(/ Copyright.*/, "");
  }
}

/** One load of several that ran side by side: counts add up, and of latencies the worst stands for all. */
export function together(loads: readonly Load[]): Load {
  const sum = (name: keyof Load) => loads.reduce((total, load) => total + load[name], 0);
  const most = (name: keyof Load) => Math.max(...loads.map((load) => load[name]));
  return {
    requests: sum("requests"),
    seconds: most("seconds"),
    p50: most("p50"),
    p99: most("p99"),
    p999: most("p999"),
    status: sum("status"),
    connect: sum("connect"),
    read: sum("read"),
    write: sum("write"),
    timeout: sum("timeout"),
    wrapped: sum("wrapped"),
    accepted: sum("accepted"),
    unavailable: sum("unavailable"),
    other: sum("other"),
  };
}

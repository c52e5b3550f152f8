import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";

/** What a figure depends on besides the programs: name and value, as they are shown. */
export type MachineFacts = Readonly<Record<string, string>>;

export function machineFacts(folder: string): MachineFacts {
  const [cpu] = cpus();
  return {
    processor: `${cpus().length} × ${cpu?.model.trim() ?? "unknown"}`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `Linux ${release()}`,
    disk: `${answerOf("stat", ["-f", "-c", "%T", folder])}, ${flushesPerSecond(folder)} flushes of 4 KiB a second`,
    Node: process.version,
    commit: answerOf("git", ["describe", "--always", "--dirty"]),
  };
}

/** How often the disk flushes: the limit of a server that commits each event by itself. */
function flushesPerSecond(folder: string): number {
  const file = join(folder, "flushes");
  const out = openSync(file, "w");
  const page = Buffer.alloc(4096, 1);
  const startedAt = performance.now();
  let flushes = 0;
  for (; performance.now() - startedAt < 1_000; flushes += 1) {
    writeSync(out, page);
    fdatasyncSync(out);
  }
  closeSync(out);
  rmSync(file);
  return flushes;
}

function answerOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

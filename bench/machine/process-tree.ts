import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts CPU time in these, on every Linux that runs Node. */
const TICKS_PER_SECOND = 100;

/** A process and everything it started that still runs, by /proc; empty where it has ended. */
export function processTree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? Number(statFields(pid)?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree: number[] = [];
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    tree.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return tree;
}

/** Seconds of user and system time of these processes, with those of children that have ended. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    // utime, stime, cutime and cstime of proc(5), counted from the field after the command's name.
    for (const at of [11, 12, 13, 14]) ticks += Number(fields?.[at] ?? 0);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Sums over these processes, in MB: what is resident now, and the most that each one ever had. */
export function memoryMb(pids: readonly number[]): { rss: number; peak: number } {
  let rss = 0;
  let peak = 0;
  for (const pid of pids) {
    const status = read(`/proc/${pid}/status`) ?? "";
    rss += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    peak += Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  }
  return { rss: rss / 1024, peak: peak / 1024 };
}

function statFields(pid: number): string[] | undefined {
  // The name stands in parentheses and may hold anything.
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

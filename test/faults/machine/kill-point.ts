/**
 * Loaded into a receiver with `--import`: kills it at one named step, the n-th time it comes there. The steps are found
 * from outside, at the calls to the database, to the disk and to the socket, so that the product has nothing in it for this.
 * ONCEHOOK_KILL_AT: the step, when, and which time, such as `commit:after:40`.
 */
import { open } from "node:fs/promises";
import { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { isMainThread, Worker } from "node:worker_threads";
import { STEPS, type When } from "./steps.ts";

const [step = "", when = "", times = "1"] = (process.env.ONCEHOOK_KILL_AT ?? "").split(":");
let left = Number(times);

function reached(now: When): void {
  if (now !== when) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const text = STEPS[step];

/** Calls of one method of a class, where `isStep` knows them. */
// biome-ignore lint/suspicious/noExplicitAny: any method of any class
function watch(prototype: any, method: string, isStep: (self: any, args: any[]) => boolean): void {
  const original = prototype[method];
  // biome-ignore lint/suspicious/noExplicitAny: the same
  prototype[method] = function watched(this: any, ...args: any[]) {
    if (!isStep(this, args)) return original.apply(this, args);
    reached("before");
    const value = original.apply(this, args);
    if (value instanceof Promise) return value.finally(() => reached("after"));
    reached("after");
    return value;
  };
}

function watchSqlite(pattern: RegExp): void {
  for (const method of ["run", "get", "all"]) {
    watch(StatementSync.prototype, method, ({ sourceSQL }) => pattern.test(sourceSQL));
  }
  watch(DatabaseSync.prototype, "exec", (_, [sql]) => pattern.test(sql));
}

/** The messages of PostgreSQL's protocol that a chunk is made of (manual, 55.7); none where it is something else. */
function messagesIn(chunk: unknown): { readonly type: string; readonly texts: readonly string[] }[] {
  const messages = [];
  if (!Buffer.isBuffer(chunk)) return [];
  for (let at = 0; at < chunk.length; ) {
    const type = String.fromCharCode(chunk[at] ?? 0);
    const end = at + 5 > chunk.length ? Number.NaN : at + 1 + chunk.readUInt32BE(at + 1);
    if (!"PBDECSQXFHcdfp".includes(type) || !(end <= chunk.length)) return [];
    messages.push({ type, texts: chunk.toString("utf8", at + 5, end).split("\0", 2) });
    at = end;
  }
  return messages;
}

/** What goes over the wire is a statement's name; its text went before. `after` is when the server has answered. */
function watchPostgres(pattern: RegExp): void {
  const textOf = new Map<string, string>();
  const { write } = Socket.prototype;
  // biome-ignore lint/suspicious/noExplicitAny: its overloads
  Socket.prototype.write = function written(this: Socket, chunk: any, ...more: any[]) {
    for (const { type, texts } of messagesIn(chunk)) {
      const [first = "", second = ""] = texts;
      // Parse names a statement and has its text; Bind names a portal and its statement.
      if (type === "P") textOf.set(first, second);
      if (type !== "B" || !pattern.test(textOf.get(second) ?? "")) continue;
      reached("before");
      // After the rest of this turn has been written; the server may or may not have begun.
      setImmediate(() => reached("sent"));
      this.once("data", () => reached("after"));
    }
    return write.call(this, chunk, ...more);
  };
}

async function watchFlush(): Promise<void> {
  const handle = await open(fileURLToPath(import.meta.url));
  watch(Object.getPrototypeOf(handle), "datasync", () => true);
  await handle.close();
}

if (isMainThread && step !== "") {
  if (text !== undefined) {
    watchSqlite(text);
    watchPostgres(text);
  } else if (step === "flush") {
    await watchFlush();
  } else if (step === "answer") {
    watch(ServerResponse.prototype, "end", () => true);
  } else if (step === "checkpoint") {
    watch(Worker.prototype, "postMessage", (_, [message]) => message === "pass");
  } else {
    throw new Error(`there is no step ${step}`);
  }
}

#!/usr/bin/env -S node --max-semi-space-size=8 --v8-pool-size=1
// JavaScript, and not TypeScript: until the cache of compiled code is on, Node would load a compiler for it at each start.
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { unfitNode } from "./unfit-node.js";

// A reader that has seen enough, such as `head`, is no error: what is left to print is dropped.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// What a callback leaves behind is collected soon, instead of letting the heap grow to several times what is in use: it
// takes half the memory, and no more time. The young generation's size is set where the process is started, and
// that one thread collects beside the main one: four of them kept the flush of the disk from its core for milliseconds.
setFlagsFromString("--heap-growing-percent=30");
// Else V8 moves the places that make a request's objects to the old generation once a few have lived for long. What is made
// there keeps all of its request until the whole heap is collected (docs/decisions/request-path.md).
setFlagsFromString("--no-allocation-site-pretenuring");

const refusal = unfitNode(process.versions.node);
if (refusal === undefined) {
  // Only now: what these import does not exist in an older Node.
  const { enableCompileCache } = await import("node:module");
  // Beside the code and not in the folder for all users' temporary files, where another user could put compiled code.
  enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/oncehook", import.meta.url)));
  const { run } = await import("./run.ts");
  process.exitCode = await run(process.argv);
} else {
  process.stderr.write(`oncehook: ${refusal}\n`);
  process.exitCode = 1;
}

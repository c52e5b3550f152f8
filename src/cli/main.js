#!/usr/bin/env node
// JavaScript, and not TypeScript: until the cache of compiled code is on, Node would load a compiler for it at each start.
import { fileURLToPath } from "node:url";
import { unfitNode } from "./unfit-node.js";

// A reader that has seen enough, such as `head`, is no error: what is left to print is dropped.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const refusal = unfitNode(process.versions.node);
if (refusal === undefined) {
  // Only now: what these import does not exist in an older Node.
  const { enableCompileCache } = await import("node:module");
  // Beside the code and not in the folder for all users' temporary files, where a stranger could put compiled code.
  enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/oncehook", import.meta.url)));
  const { run } = await import("./run.ts");
  process.exitCode = await run(process.argv);
} else {
  process.stderr.write(`oncehook: ${refusal}\n`);
  process.exitCode = 1;
}

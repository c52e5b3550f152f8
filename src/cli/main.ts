#!/usr/bin/env node
import { unfitNode } from "./unfit-node.ts";

// A reader that has seen enough, such as `head`, is no error: what is left to print is dropped.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const refusal = unfitNode(process.versions.node);
if (refusal === undefined) {
  // Only now: what it imports does not exist in an older Node.
  const { run } = await import("./run.ts");
  process.exitCode = await run(process.argv);
} else {
  process.stderr.write(`oncehook: ${refusal}\n`);
  process.exitCode = 1;
}

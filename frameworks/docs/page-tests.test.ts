import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { fileBlocks } from "../../test/support/doc-blocks.ts";
import { withPageFiles } from "./page-application.ts";

const run = promisify(execFile);

it.each(["sveltekit", "lambda"])("the test of docs/frameworks/%s.md handles a callback of Stripe once", (name) => {
  const page = `docs/frameworks/${name}.md`;
  const command = /`(STRIPE_SECRET=\S+ node --test [^`]+)`/.exec(readFileSync(page, "utf8"))?.[1] ?? "";
  return withPageFiles(fileBlocks(page), async (folder) => {
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { PATH, NODE_OPTIONS: "--conditions=oncehook-source" };
    const { stdout } = await run("sh", ["-c", command], { cwd: folder, env });
    expect(stdout).toMatch(/pass 1\n.+fail 0/);
  });
});

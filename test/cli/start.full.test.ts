import { expect, it } from "vitest";
import { ended, startFromSource } from "../support/child.ts";

const PRINT = new URL("../support/print-modules.ts", import.meta.url).href;

/** The folders below `src` whose modules a command loads. */
async function foldersOf(...args: string[]): Promise<string[]> {
  const { stderr } = await ended(startFromSource(args, { ...process.env, NODE_OPTIONS: `--import=${PRINT}` }));
  const folders = stderr.split("\n").flatMap((line) => /^loads ([\w-]+)\//.exec(line)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

it.each(["--version", "--help", "serve --help", "copy --help", "find"])(
  "oncehook %s loads nothing of the receiver, which would take most of its start",
  async (words) => expect(await foldersOf(...words.split(" "))).toEqual(["admin-client", "cli", "domain"]),
);

it("a command that asks a running receiver loads none of its parts", async () =>
  expect(await foldersOf("find", "order-1")).not.toEqual(expect.arrayContaining(["app"])));

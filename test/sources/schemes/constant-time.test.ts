import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { withFolder } from "../../support/folder.ts";

const PLUGIN = "scripts/constant-time.grit";

const SAFE = [
  "timingSafeEqual(digest(given), expected)",
  "token === undefined",
  'typeof token !== "string"',
  "secret.trim() !== secret",
  "token.method === other.method",
  "digest.length !== expected.length",
  "bodySha256 === stored.bodySha256",
];
const UNSAFE = [
  "digest(key, body).equals(claimed)",
  "Buffer.compare(expected, given) === 0",
  "expected.compare(given) === 0",
  "given === token",
  "tokens[0] == config.callbackToken",
  "request.headers.authorization !== expected",
  'createHmac("sha256", key).update(body).digest("hex") === value',
  'value === digest(key, body).toString("hex")',
  'claimed.toString("hex") === expected',
  "x === options.signingSecret",
  "signature !== x",
];

it("a secret that is compared otherwise than in constant time does not pass the lint", () =>
  withFolder(async (folder) => {
    const { overrides } = JSON.parse(await readFile("biome.json", "utf8"));
    expect(overrides).toContainEqual(
      expect.objectContaining({ includes: expect.arrayContaining(["src/**"]), plugins: [`./${PLUGIN}`] }),
    );
    await writeFile(join(folder, "biome.json"), JSON.stringify({ plugins: [resolve(PLUGIN)] }));
    const expressions = [...SAFE, ...UNSAFE];
    const lines = expressions.map((expression) => `export const x = ${expression};`);
    await writeFile(join(folder, "planted.ts"), `${lines.join("\n")}\n`);
    const biome = [resolve("node_modules/@biomejs/biome/bin/biome"), "lint", "--max-diagnostics=none", "planted.ts"];
    const lint = spawnSync(process.execPath, biome, { cwd: folder, encoding: "utf8" });
    const found = [...lint.stderr.matchAll(/^planted\.ts:(\d+):\d+ plugin /gm)];
    expect(new Set(found.map(([, line]) => expressions[Number(line) - 1]))).toEqual(new Set(UNSAFE));
  }));

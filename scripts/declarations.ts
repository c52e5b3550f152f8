/**
 * The package's declarations and the files that `require` finds. One file holds the types of all doors, so that a type from one
 * door is the same type at another. Types of bundled packages are inside: what is not installed cannot be named.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { doors } from "./doors.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");

/** Installed beside the package, so that an application's `Kysely` is the handler's: its class has a private member. */
const INSTALLED = "kysely";

const entries = doors(join(ROOT, "package.json"));
const input = Object.fromEntries(entries.map(({ name, source }) => [name, join(ROOT, source)]));
const bundle = await rolldown({
  cwd: ROOT,
  input,
  external: [/^node:/, INSTALLED, "fastify", "undici"],
  checks: { pluginTimings: false },
  onLog(level, { message }) {
    if (level === "warn") throw new Error(message);
  },
  plugins: [
    esmDeclarations(),
    ...dts({ cwd: ROOT, tsconfig: "tsconfig.build.json", emitDtsOnly: true, sourcemap: false }),
  ],
});
const { output } = await bundle.write({
  dir: DIST,
  entryFileNames: "[name].js",
  // A folder of their own: a bundler that traces the code takes the whole of `chunks`, and reads these as code.
  chunkFileNames: "declarations/types.js",
});
await bundle.close();

for (const { fileName } of output) {
  const path = join(DIST, fileName);
  const text = withoutAugmentations(readFileSync(path, "utf8"));
  assertInstalled(fileName, text);
  writeFileSync(path, text);
  writeFileSync(path.replace(/\.d\.ts$/, ".d.cts"), required(text));
}
for (const { name } of entries) {
  const file = `./${name.split("/").at(-1)}.js`;
  writeFileSync(join(DIST, `${name}.cjs`), `"use strict";\n\nmodule.exports = require("${file}");\n`);
}

/** Zod names the declarations of its CommonJS files first, which cannot be bundled. */
function esmDeclarations(): Plugin {
  return {
    name: "esm-declarations",
    resolveId: {
      order: "pre",
      filter: { id: /^zod/ },
      handler(id) {
        const path = id.replace(/^zod\/?/, "");
        return join(ROOT, "node_modules/zod", path, "index.d.ts");
      },
    },
  };
}

/** What the admin API adds to Fastify's requests concerns its routes only, and so do imports for that. */
function withoutAugmentations(text: string): string {
  return text
    .replaceAll(/^declare module "[^"]+" \{\n(?: .*\n)*\}\n/gm, "")
    .replaceAll(/^import "[^."][^"]*";\n/gm, "");
}

/** @throws Error where a declaration names a package that an application does not have */
function assertInstalled(fileName: string, text: string): void {
  const names = Array.from(text.matchAll(/(?:from |import\()"([^."][^"]*)"/g), ([, name = ""]) => name);
  const missing = names.filter((name) => name !== INSTALLED && !name.startsWith("node:"));
  if (missing.length > 0)
    throw new Error(
      `${fileName} names types of ${missing.join(", ")}, which is no dependency of the package: ` +
        "declare the type in src/, or bundle it in scripts/declarations.ts",
    );
}

/** The declarations as a CommonJS module has them: its siblings are, and Kysely is an ES module. */
function required(text: string): string {
  return text
    .replaceAll(/((?:from|import) "\.[^"]+)\.js"/g, '$1.cjs"')
    .replaceAll(
      new RegExp(`^import (?:type )?(\\{[^}]+\\}) from "${INSTALLED}";`, "gm"),
      `import type $1 from "${INSTALLED}" with { "resolution-mode": "import" };`,
    );
}

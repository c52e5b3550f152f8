/** The JavaScript of the published package (`npm run build`); the reasons: docs/decisions/deployment.md. */
import { getBuiltinModule } from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { doors } from "./doors.ts";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Loaded on first use, where a configuration asks for it: these packages get Node's modules as they are. */
const ON_DEMAND = /\/node_modules\/(@opentelemetry\/|jose\/|nodemailer\/|undici\/)/;

/** Modules of ours but the command itself, which is JavaScript. */
const OURS = new RegExp(`^${at("src/").replaceAll("\\", "/")}.*\\.ts$`);

export default defineConfig({
  root: at("."),
  publicDir: false,
  plugins: [builtinsOnDemand(), zodOfOurOwn()],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: "node22",
    outDir: at("dist"),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    reportCompressedSize: false,
    license: { fileName: "third-party-licenses.md" },
    rolldownOptions: {
      // A module of ours is loaded where something of it is used, and not for standing in a folder's index.ts.
      treeshake: { moduleSideEffects: [{ test: OURS, sideEffects: false }] },
      // Never installed with us: `pg` asks for it where an application wants its native client.
      external: ["pg-native"],
      input: {
        "cli/main": at("src/cli/main.js"),
        ...Object.fromEntries(doors(at("package.json")).map(({ name, source }) => [name, at(source)])),
      },
      output: {
        entryFileNames: "[name].js",
        // Two levels deep, like the modules of src/: they find package.json and their own files from there.
        chunkFileNames: "chunks/[name].js",
        comments: { jsdoc: false },
        // The sources are in the repository, at the tag of the version.
        sourcemapExcludeSources: true,
      },
    },
  },
});

/**
 * An import of Node's `http` or `crypto` reads their accessors, which loads the client of `fetch` and Web Crypto.
 * TLS is needed only where something speaks it. Without this a start takes a fifth more.
 */
function builtinsOnDemand(): Plugin {
  const PREFIX = "\0node/";
  return {
    name: "builtins-on-demand",
    enforce: "pre",
    resolveId(id, importer, { kind }) {
      if (importer !== undefined && ON_DEMAND.test(importer)) return undefined;
      const name = id.replace(/^node:/, "");
      const isFastifys = name === "https" || name === "http2";
      const isImported = ["crypto", "http", "tls"].includes(name) && kind === "import-statement";
      return isFastifys || isImported ? PREFIX + name : undefined;
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return undefined;
      const name = id.slice(PREFIX.length);
      return name === "crypto" || name === "http" ? withoutAccessors(name) : loadedOnCall(name);
    },
  };
}

/** Zod keeps its settings and schemas in two globals, which an application's own Zod would share with ours. */
function zodOfOurOwn(): Plugin {
  return {
    name: "zod-of-our-own",
    transform: {
      filter: { id: /\/zod\/v4\/core\/(core|registries)\.js$/ },
      handler: (code) => ({ code: `const ownGlobals = {};${code.replaceAll("globalThis", "ownGlobals")}`, map: null }),
    },
  };
}

type Member = readonly [name: string, value: unknown];

function membersOf(name: string): readonly Member[] {
  const members = Object.entries(Object.getOwnPropertyDescriptors(getBuiltinModule(`node:${name}`) ?? {}));
  return members.flatMap(([member, { get, value }]) => (get === undefined ? [[member, value] as const] : []));
}

function withoutAccessors(name: string): string {
  const exported = membersOf(name).map(([member]) => `export const ${member} = loaded.${member};`);
  return [`const loaded = process.getBuiltinModule("node:${name}");`, ...exported].join("\n");
}

/** Functions alone: an import of a class or a constant fails the build. */
function loadedOnCall(name: string): string {
  const functions = membersOf(name).filter(([member, value]) => typeof value === "function" && /^[a-z]/.test(member));
  return functions
    .map(
      ([member]) =>
        `export const ${member} = (...given) => process.getBuiltinModule("node:${name}").${member}(...given);`,
    )
    .join("\n");
}

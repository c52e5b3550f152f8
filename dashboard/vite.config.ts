import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at("."),
  // Relative, so that the page works under any path; the receiver writes that path into it.
  base: "./",
  // The receiver puts a fresh one in place of it in every answer.
  html: { cspNonce: "CSP_NONCE" },
  resolve: { alias: { "oncehook/admin-client": at("../src/admin-client/index.ts") } },
  build: {
    target: "es2023",
    // Measured compressed, by a test.
    reportCompressedSize: false,
    license: { fileName: "third-party-licenses.md" },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      onLog(level, log, say) {
        // "use client" in libraries is for servers that render pages; ours renders none.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") say(level, log);
      },
    },
  },
  plugins: [fontAhead(), compressAhead()],
  // For work on the page: the receiver beside it answers.
  server: { proxy: { "^/(api/v1|sign-in/oidc)": "http://127.0.0.1:8081" } },
});

/** The page names its font, so that it is there before the first text; its license goes with it. */
function fontAhead(): Plugin {
  return {
    name: "font-ahead",
    apply: "build",
    async closeBundle() {
      await copyFile(at("../node_modules/@fontsource-variable/inter/LICENSE"), at("dist/inter-license.txt"));
    },
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((name) => name.endsWith(".woff2"))
          .map((name) => ({
            tag: "link",
            attrs: { rel: "preload", as: "font", type: "font/woff2", crossorigin: "", href: `./${name}` },
            injectTo: "head-prepend",
          })),
    },
  };
}

/** Writes each asset compressed beside itself, so that no answer has to be. */
function compressAhead(): Plugin {
  const folder = at("dist/assets");
  return {
    name: "compress-ahead",
    apply: "build",
    async closeBundle() {
      // A font is compressed in itself.
      for (const name of (await readdir(folder)).filter((one) => !one.endsWith(".woff2"))) {
        const path = join(folder, name);
        const bytes = await readFile(path);
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }
    },
  };
}

import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const conditions = ["oncehook-source", "module", "node", "development|production"];

/** The presets against the platforms' own SDKs, which `npm ci` leaves out: they are larger than everything else. */
export default defineConfig({
  // The examples import it as a user's do; this folder is no part of the package.
  resolve: { conditions, alias: [{ find: /^oncehook$/, replacement: resolve("src/index.ts") }] },
  ssr: { resolve: { conditions } },
  test: {
    include: ["interop/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    expect: { requireAssertions: true },
  },
});

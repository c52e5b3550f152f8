import { defineConfig } from "vitest/config";

const conditions = ["oncehook-source", "module", "node", "development|production"];

/** The presets against the platforms' own SDKs, which `npm ci` leaves out: they are larger than everything else. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["interop/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    expect: { requireAssertions: true },
  },
});

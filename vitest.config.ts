import { defineConfig } from "vitest/config";

const conditions = ["oncehook-source", "module", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/own-processes.ts"],
    pool: "forks",
    // Half of the time of a run would go into evaluating the same modules for each file.
    isolate: false,
    // Of two cores, two files at a time leave a quarter idle: many tests wait for processes and clocks.
    maxWorkers: 3,
    maxConcurrency: 20,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    tags: [{ name: "full", description: "long by nature: `npm run test:full` runs it, `npm test` does not" }],
    // A test that asserts nothing would pass whatever the product does.
    expect: { requireAssertions: true },
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary", "text"],
    },
  },
});

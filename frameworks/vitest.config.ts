import { defineConfig } from "vitest/config";

const conditions = ["oncehook-source", "module", "node", "development|production"];

/** Oncehook inside applications, with the frameworks and database libraries that `npm ci` leaves out. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["frameworks/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts", "frameworks/once/generate-prisma.ts"],
    setupFiles: ["test/support/own-processes.ts"],
    pool: "forks",
    // As in the tests of the project: the files of a process share the modules that it has evaluated.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
});

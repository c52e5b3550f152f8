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
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
});

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const conditions = ["oncehook-source", "module", "node", "development|production"];

/** Minutes each. Where one of them began late, the other cores would wait for its end. */
const LONGEST = [
  "faults/torture.full.test.ts",
  "deploy/package.full.test.ts",
  "deploy/built-image.full.test.ts",
  "scenarios/backfill-kills.full.test.ts",
  "scenarios/tenants.test.ts",
  "cli/listen-behaviour.full.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return rank < 0 ? LONGEST.length : rank;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/own-processes.ts"],
    pool: "forks",
    sequence: { sequencer: LongestFirst },
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

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** The deep counts take minutes; a hang is still found. */
const timeoutMs = process.env.RETINUE_DEEP ? 3_600_000 : 240_000;

/** Files that start programs all the time: from a process that has run all the others, too, that takes far longer. */
const STARTING = [
  "packages/code/src/{repository,sandbox,shell,test-runs}/**/*.test.ts",
  "packages/core/src/git/**/*.test.ts",
  "test/attacks/**/*.test.ts",
  "test/cli/**/*.test.ts",
  "test/docs.test.ts",
  "test/scenarios/{confirmed-commands,isolation*,leave,*-roles,role-tasks,undo,untrusted-files,use-cases}.test.ts",
  "test/services/**/*.test.ts",
  "test/web/**/*.test.ts",
];

/** Packages are used from their sources. */
const conditions = ["retinue-source"];

export default defineConfig({
  resolve: { conditions },
  ssr: {
    resolve: {
      conditions: [...conditions, "module", "node", "development"],
      externalConditions: [...conditions, "node"],
    },
  },
  test: {
    execArgv: ["--conditions=retinue-source"],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    pool: "forks",
    // By default one core is left idle. Tests wait for processes and pages as long as they work themselves.
    maxWorkers: availableParallelism() + 1,
    // One process for many files: modules are loaded once, not four hundred times.
    isolate: false,
    // What is built runs as it is.
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      { extends: true, test: { name: "starting", include: STARTING } },
      {
        extends: true,
        test: {
          name: "computing",
          include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: STARTING,
        },
      },
    ],
  },
});

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** The deep counts take minutes; a hang is still found. */
const timeoutMs = process.env.RETINUE_DEEP ? 3_600_000 : 240_000;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    pool: "forks",
    // One process for many files: modules are loaded once, not four hundred times.
    isolate: false,
    // By default one core is left idle.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** The deep counts take minutes; a hang is still found. */
const timeoutMs = process.env.RETINUE_DEEP ? 3_600_000 : 240_000;

/** Browsers, terminals and crowds of processes: each of these files keeps all cores busy by itself. */
const HEAVY = [
  "test/web/**/*.test.ts",
  "test/attacks/**/*.test.ts",
  "test/cli/**/*.test.ts",
  "test/server/**/*.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    pool: "forks",
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: HEAVY,
          // By default one core is left idle.
          maxWorkers: Math.max(2, availableParallelism()),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: HEAVY, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});

import { DatabaseSync } from "node:sqlite";
import { parentPort } from "node:worker_threads";
import { messageOf } from "../../schema/error.ts";
import type { StatsQuery } from "../../schema/stats.ts";
import { readStatsByDay } from "./stats.ts";

/** The thread that `createStatsAside` asks: reads through a connection of its own, which can write nothing. */
parentPort?.on("message", ({ id, path, query }: { id: number; path: string; query: StatsQuery }) => {
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
    parentPort?.postMessage({ id, read: readStatsByDay(db, query) });
  } catch (thrown) {
    parentPort?.postMessage({ id, problem: messageOf(thrown) });
  }
});

import { DatabaseSync } from "node:sqlite";
import { parentPort } from "node:worker_threads";
import { messageOf } from "../../schema/error.ts";
import type { StatsQuery } from "../../schema/stats.ts";
import { createStatsReader } from "../read-stats.ts";

/** The thread that `readStatsAside` asks: reads through a connection of its own, which can write nothing. */
parentPort?.on("message", ({ id, path, query }: { id: number; path: string; query: StatsQuery }) => {
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
    const reader = createStatsReader(db);
    parentPort?.postMessage({ id, read: { ...reader.stats(query), days: reader.statsByDay(query) } });
  } catch (thrown) {
    parentPort?.postMessage({ id, problem: messageOf(thrown) });
  }
});

import { Worker } from "node:worker_threads";
import { locateProgram } from "../../files/locate-program.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { StatsQuery } from "../../schema/stats.ts";
import type { StatsByDay } from "../record.ts";

/** Reads figures in a thread of its own, so that tens of thousands of runs hold nobody up. */
export type StatsAside = {
  /** Who asks for the same while it is being read gets the same answer. */
  read(query: StatsQuery): Promise<StatsByDay>;
  close(): Promise<void>;
};

type Answer = { id: number; read: StatsByDay } | { id: number; problem: string };
type Waiting = { resolve(read: StatsByDay): void; reject(reason: RetinueError): void };

const PROGRAM = locateProgram("stats-worker", import.meta.url);

/** Creates the reader of a database file; its thread starts with the first question. */
export function createStatsAside(path: string): StatsAside {
  const waiting = new Map<number, Waiting>();
  const asked = new Map<string, Promise<StatsByDay>>();
  let worker: Worker | undefined;
  let count = 0;

  function failAll(message: string): void {
    worker = undefined;
    const reason = new RetinueError("store", `cannot read the figures of ${path}: ${message}`);
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  }
  function start(): Worker {
    const started = new Worker(PROGRAM.url, { execArgv: PROGRAM.nodeArgs, env: {} });
    // It keeps nobody alive: who asks has a connection that does.
    started.unref();
    started.on("message", (answer: Answer) => {
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ("read" in answer) one?.resolve(answer.read);
      else one?.reject(new RetinueError("store", `cannot read the figures of ${path}: ${answer.problem}`));
    });
    started.on("error", (error) => failAll(messageOf(error)));
    started.on("exit", () => failAll("the thread that reads them ended"));
    return started;
  }
  function ask(query: StatsQuery): Promise<StatsByDay> {
    const id = ++count;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker ??= start();
      worker.postMessage({ id, path, query });
    });
  }
  return {
    read(query) {
      const name = JSON.stringify(Object.entries(query).sort());
      const same = asked.get(name);
      if (same) return same;
      const reading = ask(query).finally(() => asked.delete(name));
      asked.set(name, reading);
      return reading;
    },
    async close() {
      await worker?.terminate();
    },
  };
}

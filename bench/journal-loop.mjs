// The second yardstick: the same delegation on pooled `node:http`, writing to SQLite when each model call and tool call
// opens and when it closes. What durable delegation costs at the least: no rights, budgets or limits, and no resuming.
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { collectReply, createAgents, writeRequest } from "./hand-loop.mjs";
import { measureAgents } from "./measure.mjs";

const url = new URL("/v1/chat/completions", process.env.BENCH_URL);
const pool = new http.Agent({ keepAlive: true });
const dataDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
const journal = openJournal(join(dataDir, "journal.db"));

/** A row per call. The writes of one tick are one transaction; a row is written before its call begins. */
function openJournal(file) {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE calls (id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT NOT NULL, input TEXT, output TEXT,
      opened REAL NOT NULL, closed REAL)`);
  const insert = database.prepare(
    "INSERT INTO calls (id, parent, kind, input, opened) VALUES (?, ?, ?, ?, ?)",
  );
  const update = database.prepare("UPDATE calls SET output = ?, closed = ? WHERE id = ?");
  let lastId = 0;
  let isOpen = false;
  const write = (statement, ...values) => {
    if (!isOpen) {
      isOpen = true;
      database.exec("BEGIN");
      setImmediate(commit);
    }
    statement.run(...values);
  };
  const commit = () => {
    if (isOpen) database.exec("COMMIT");
    isOpen = false;
  };
  return {
    open(parent, kind, input) {
      write(insert, ++lastId, parent, kind, toText(input), Date.now());
      return lastId;
    },
    close(id, output) {
      write(update, toText(output), Date.now(), id);
    },
    /** Commits what is left, and counts what was opened and what was closed. */
    shutdown() {
      commit();
      const counts = database.prepare("SELECT count(*) AS opened, count(closed) AS closed FROM calls").get();
      database.close();
      return counts;
    },
  };
}

function toText(value) {
  return value === null || typeof value === "string" ? value : JSON.stringify(value);
}

function callModel(messages, tools) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", authorization: "Bearer none" };
    const request = http.request(url, { method: "POST", agent: pool, headers }, (response) => {
      const { reply, readLine } = collectReply();
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop();
        for (const line of lines) readLine(line);
      });
      response.once("end", () => resolve(reply));
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(writeRequest(messages, tools));
  });
}

const { runChild, runParent, runChain } = createAgents(callModel, journal);
await measureAgents({ start: () => runChild({ task: "first" }), fanOut: runParent, chain: runChain });
const { opened, closed } = journal.shutdown();
if (opened === 0 || opened !== closed)
  throw new Error(`${closed} of ${opened} calls were closed in the journal`);
pool.destroy();
rmSync(dataDir, { recursive: true, force: true });

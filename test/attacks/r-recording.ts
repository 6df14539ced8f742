import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { callDelegateMany, callTool, say, testRuntime } from "@retinue/core/testing";
import { expect } from "vitest";
import { step } from "../fixtures/plans.ts";
import { type Attack, expectSettled, type World } from "./attack.ts";
import { handClock } from "./clocks.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const RECORD = "the record itself holds and orders what is written; runs wait for it";

const done = say("done");
const databaseOf = (world: World) => join(world.dataDir, "retinue.db");
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

const HOUR_MS = 3_600_000;
/** 10 MB in the deep tests. */
const LINES = process.env.RETINUE_DEEP === "1" ? 500_000 : 50_000;

/** A record that says everything is on disk before it is. */
function createHastyRecord(path: string): Record {
  return { ...createSqliteRecord({ path, onNotice: () => {} }), committed: async () => {} };
}

/** A disk that refuses everything from one moment on, and takes it again after some tries. */
function refusingDisk(world: World, errcode: number, message: string) {
  const disk = { refuses: false, refused: 0 };
  const refuse = world.tool("refuse", {
    execute: async () => {
      disk.refuses = true;
      return "the disk refuses now";
    },
  });
  const pay = world.tool("pay", {
    replay: "never",
    execute: async () => String(world.seen.push(disk.refuses)),
  });
  const execute = (write: () => void) => {
    if (!disk.refuses) return write();
    if (++disk.refused >= 4) disk.refuses = false;
    throw Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
  };
  const schedule = (work: () => void) => {
    const handle = setTimeout(work, 1);
    return () => clearTimeout(handle);
  };
  return { tools: [refuse, pay], recordPorts: { execute, schedule } };
}

const NAUGHTY: readonly string[] = [
  "\ud800",
  "\udc00\ud800",
  "a\0b\0",
  "\u0001\u001b[31mred\u001b[0m\u0007\b\u007f",
  "\u202egnirts\u202c \u2066\u2069 \u200b\u200d\ufeff\u2028\u2029",
  "e\u0301 vs \u00e9, \u212b, ﬃ, ẞ, İ",
  "👩‍👩‍👧‍👦🏳️‍🌈 \u{10ffff} \u{e0041}",
  "'; DROP TABLE messages; --\" ` \\ \\\\u0000 %s %n $(x) {{task}} $& $1",
  "line\r\nline\rline\n\n\ttab\v\f",
  '<script>alert(1)</script> ]]> &amp; </subagent_result> {"__proto__":1}',
  "ｆｕｌｌ ｗｉｄｔｈ 社會科學院 ٣ ১ नमस्ते",
  "\uffff\ufffe\ufffd",
];

/** What is recorded is all of it, in time, for its owner only. */
export const RECORD_CASES: readonly Attack[] = [
  {
    id: "R3 intent",
    title: "the intent of a call that must not be repeated is on disk before its effect",
    noGuard: RECORD,
    setup: (world) => {
      const pay = world.tool("pay", {
        replay: "never",
        execute: async (_, { callId }) => {
          using other = new DatabaseSync(databaseOf(world), { readOnly: true });
          world.seen.push(other.prepare("SELECT status FROM messages WHERE call_id = ?").get(callId)?.status);
          return "paid";
        },
      });
      return {
        tools: [pay],
        database: databaseOf(world),
        internals: world.broken ? { record: createHastyRecord(databaseOf(world)) } : {},
      };
    },
    turns: () => ({ lead: [callTool("pay", { n: 1 }), callTool("pay", { n: 2 }), done] }),
    oracle: ({ world }) => expect(world.seen).toEqual(["running", "running"]),
  },
  ...[
    { name: "a full disk", errcode: 13, message: "database or disk is full" },
    { name: "a broken disk", errcode: 10 | (3 << 8), message: "disk I/O error" },
  ].map(
    ({ name, errcode, message }): Attack => ({
      id: `R4 ${name}`,
      title: "holds the run before its next effect, loudly, and nothing is lost when it takes writes again",
      noGuard: RECORD,
      setup: (world) => {
        const { tools, recordPorts } = refusingDisk(world, errcode, message);
        return {
          tools,
          database: databaseOf(world),
          internals: { recordPorts, ...(world.broken && { record: createHastyRecord(databaseOf(world)) }) },
        };
      },
      turns: () => ({ lead: [callTool("refuse", {}), callTool("pay", {}), done] }),
      oracle: async ({ world, t, result }) => {
        expect(world.seen).toEqual([false]);
        expect(result.status).toBe("completed");
        const notices = t.events.flatMap((event) => (event.type === "notice.raised" ? [event] : []));
        expect(notices.map((notice) => notice.level)).toEqual(["error", "info"]);
        expect(notices[0]?.message).toContain(message);
        await expectSettled(t);
        const seqs = t.events.flatMap((event) => event.seq ?? []);
        expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
      },
    }),
  ),
  {
    id: "R6 damaged",
    title: "a damaged database is kept aside, a person is told, and the runtime works on",
    noGuard: "the record heals itself when it is opened, before any run",
    setup: (world) => {
      mkdirSync(world.dataDir);
      if (!world.broken) writeFileSync(databaseOf(world), "SQLite format 3\0".padEnd(8_192, "garbage "));
      return { database: databaseOf(world) };
    },
    turns: () => ({ lead: [done] }),
    oracle: async ({ world, t, result }) => {
      expect(result.status).toBe("completed");
      expect((await t.runtime.record.listSessions()).sessions).toHaveLength(1);
      expect(t.events.flatMap((event) => (event.type === "notice.raised" ? [event.message] : []))).toEqual([
        expect.stringContaining("is damaged"),
      ]);
      const kept = readdirSync(world.dataDir).filter((name) => name.startsWith("retinue.db.corrupt-"));
      expect(kept).toHaveLength(1);
      expect(readFileSync(join(world.dataDir, kept[0] ?? ""), "utf8")).toContain("garbage");
    },
  },
  {
    id: "R6 newer",
    title: "a database from a newer program is refused and keeps every byte",
    noGuard: "the record's version is looked at when it is opened, before any run",
    turns: () => ({ lead: [done] }),
    act: async (t, world) => {
      const path = join(world.outsideDir, "newer.db");
      using db = new DatabaseSync(path);
      db.exec(`CREATE TABLE t (x); PRAGMA user_version = ${world.broken ? 0 : 9_999}`);
      const before = readFileSync(path);
      try {
        await testRuntime(
          {},
          { database: path, dataDir: world.outsideDir, projectDir: world.projectDir },
        ).close();
        world.seen.push("opened");
      } catch (thrown) {
        world.seen.push(String(thrown));
      }
      world.seen.push(readFileSync(path).equals(before));
      return t.runtime.run({ agent: "lead", task: "go" });
    },
    oracle: ({ world }) => expect(world.seen).toEqual([expect.stringContaining("has version 9999"), true]),
  },
  {
    id: "R7",
    title: "a long session is read back in pages, each step once and in the order it was published",
    noGuard: RECORD,
    setup: (world) => ({
      database: databaseOf(world),
      agents: { lead: { subagents: { allow: ["worker"], maxConcurrent: 50 } } },
      tools: [world.tool("note")],
    }),
    turns: () => ({
      lead: [
        callDelegateMany(
          Array.from({ length: 300 }, (_, index) => ({ id: `t${index}`, agent: "worker", task: "x" })),
        ),
        done,
      ],
      worker: { eachRun: [callTool("note", {}), say("ok")] },
    }),
    oracle: async ({ world, t, result }) => {
      const pages: number[] = [];
      for (let page = [0]; page.length > 0; pages.push(...page)) {
        page = (
          await t.runtime.record.readLog({
            sessionId: result.session_id,
            after: pages.at(-1) ?? 0,
            limit: 97,
          })
        ).map((change) => change.seq);
      }
      const published = t.events.flatMap((event) => event.seq ?? []);
      expect(pages).toEqual(world.broken ? published.slice(1) : published);
      expect(pages.length).toBeGreaterThan(2_000);
    },
  },
  ...[...NAUGHTY, "many MB"].map(
    (naughty): Attack => ({
      id: `R8 ${JSON.stringify(naughty)}`,
      title: "comes back as it was: as task, input, output and text",
      noGuard: RECORD,
      setup: (world) => ({
        database: databaseOf(world),
        settings: { limits: { contextChars: 100_000_000 } },
        tools: [world.tool("echo", { execute: async ({ text }) => `out ${String(text).slice(-20_000)}` })],
      }),
      turns: (world) => {
        const text = textOf(naughty);
        return {
          lead: [callTool("echo", { text: inputOf(text) }), say(`said ${text}${world.broken ? "?" : ""}`)],
        };
      },
      act: (t) => t.runtime.run({ agent: "lead", task: `task ${textOf(naughty)}` }),
      oracle: async ({ world, t, result }) => {
        const text = textOf(naughty);
        const rows = await t.runtime.record.readRows({ sessionId: result.session_id });
        expect(rows.find((row) => row.request_type === "prompt")?.request_content === `task ${text}`).toBe(
          true,
        );
        const call = rows.find((row) => row.request_type === "tool_call");
        const { text: recorded } = JSON.parse(call?.request_content ?? "{}");
        expect(recorded === inputOf(text)).toBe(true);
        expect(call?.response_content === `out ${inputOf(text).slice(-20_000)}`).toBe(true);
        expect(
          world.ran.get("echo")?.map((input) => (input as { text: string }).text === inputOf(text)),
        ).toEqual([true]);
        expect(
          rows.findLast((row) => row.request_type === "continuation")?.response_content === `said ${text}`,
        ).toBe(true);
      },
    }),
  ),
  {
    id: "R9",
    title: "the database and the session's folder are for their owner only, whatever the umask",
    noGuard: "files are made with their modes by the record and the session",
    setup: (world) => {
      const umask = process.umask(0);
      world.atEnd(() => process.umask(umask));
      if (world.broken) mkdirSync(world.dataDir, { mode: 0o755 });
      return {
        database: databaseOf(world),
        tools: [world.tool("big", { execute: async () => "x".repeat(50_000) })],
      };
    },
    turns: () => ({ lead: [callTool("big", {}), done] }),
    oracle: ({ world, result }) => {
      const { dataDir } = world;
      const files = ["retinue.db", "retinue.db-wal", "retinue.db-shm"].map((name) =>
        modeOf(join(dataDir, name)),
      );
      expect(files).toEqual(["600", "600", "600"]);
      const folders = [dataDir, join(dataDir, "sessions"), join(dataDir, "sessions", result.session_id)].map(
        modeOf,
      );
      expect(folders).toEqual(["700", "700", "700"]);
    },
  },
  {
    id: "R10",
    title: "a clock that jumps by hours frees no session that is worked on and changes the order of nothing",
    noGuard: "leases and lists are the record's own",
    setup: (world) => {
      const path = databaseOf(world);
      const clock = handClock();
      const now = clock.wallMs;
      const pay = world.tool("pay", {
        execute: async (_, { sessionId }) => {
          for (const hours of [-48, 48])
            world.seen.push(await lookAt(path, sessionId, now() + hours * HOUR_MS));
          return "paid";
        },
      });
      return {
        tools: [pay],
        agents: { lead: { tools: ["pay"], askTools: ["pay"] } },
        approve: async () => {
          clock.jumpWall(-7 * HOUR_MS);
          return { allowed: true, by: "a person" };
        },
        internals: { clock, record: createSqliteRecord({ path, now, monotonicMs: clock.monotonicMs }) },
      };
    },
    turns: () => ({
      lead: ({ task, turn }) => (turn === 0 ? callTool("pay", { to: task }) : done),
      worker: [],
    }),
    act: async (t) => {
      const perform = async (task: string) => {
        const result = await t.runtime.run({ agent: "lead", task });
        await t.runtime.plans.add(task, { steps: [step("a")] }, "lead");
        return result;
      };
      await perform("first");
      await perform("second");
      return perform("third");
    },
    oracle: async ({ world, t }) => {
      const { record } = t.runtime;
      // Lists in the order of the clock are what would be noticed.
      const listed = <T>(rows: readonly T[], at: (row: T) => number | string) =>
        world.broken ? rows.toSorted((one, other) => (at(one) < at(other) ? 1 : -1)) : rows;
      const latest = ["third", "second", "first"];
      expect(
        listed((await record.listSessions()).sessions, (row) => row.updated_at).map(({ title }) => title),
      ).toEqual(latest);
      const answered = listed(
        await record.listApprovals({ state: "answered" }),
        ({ answer }) => answer?.atMs ?? 0,
      );
      expect(answered.map(({ request }) => (request.input as { to: string }).to)).toEqual(latest);
      expect(
        listed((await record.listPlans()).plans, (plan) => plan.updatedAtMs).map(({ goal }) => goal),
      ).toEqual(latest);
      expect(world.seen).toEqual(Array(6).fill("held"));
    },
  },
];

/** Whether a session counts as somebody's for a program whose clock shows another time. */
async function lookAt(path: string, sessionId: string, nowMs: number): Promise<string> {
  const other = createSqliteRecord({ path, now: () => nowMs });
  const holder = await other.findHolder(sessionId);
  await other.close();
  return holder === null ? "free" : "held";
}

function textOf(naughty: string): string {
  return naughty === "many MB" ? `${"ä€ and a line of text\n".repeat(LINES)}\ud800` : naughty;
}

/** Inputs of tools have a bound of their own. */
function inputOf(text: string): string {
  return text.slice(-1_000_000);
}

import { afterEach, beforeEach, expect, test } from "vitest";
import { createRows } from "../../../../test/fixtures/made-rows.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { EarlierCalls } from "../run/earlier-calls.ts";
import { KnownAddresses } from "../run/known-addresses.ts";
import type { MessageNode, MessageRow } from "../schema/record.ts";
import { defineTool } from "../tools/tool.ts";
import { hadProjectText, recallSession } from "./recall-session.ts";

let record: Record;
beforeEach(() => {
  record = createSqliteRecord({ path: ":memory:" });
});
afterEach(() => record.close());

const start = (sessionId: string, metadata: { readonly [name: string]: unknown }) =>
  record.startSession({ sessionId, title: "t", project: "/p", workspace: "/w", metadata });

test("whether text of the project had entered a session is what its row says; of one that was removed nobody knows, so it had", async () => {
  await start("ses_with", { projectText: true });
  await start("ses_without", { projectText: false });
  const known = await Promise.all(
    ["ses_with", "ses_without", "ses_removed"].map((id) => hadProjectText(record, id)),
  );
  expect(known).toEqual([true, false, true]);
});

test("of a session from before that was kept it is taken from what its runs held", async () => {
  await start("ses_old", {});
  expect(await hadProjectText(record, "ses_old")).toBe(false);
  await record.write({
    kind: "row.open",
    id: await record.reserveRowIds(1),
    row: {
      sessionId: "ses_old",
      parentId: null,
      runId: "run_1",
      type: "prompt",
      agentRole: "lead",
      depth: 0,
      startedAtMs: 1,
      metadata: { privateData: true },
    },
  });
  expect(await hadProjectText(record, "ses_old")).toBe(true);
});

const mail = defineTool<{ to: string }>({
  name: "mail",
  description: "Sends a mail.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  confirm: () => null,
  execute: async () => "sent",
});
const look = defineTool<object>({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: async () => "seen",
});

/** Recalls the rows of one run, each hanging from the one before it. */
async function recall(rows: readonly MessageRow[]) {
  const addresses = new KnownAddresses();
  const earlier = new EarlierCalls();
  const tools = new Map([mail, look].map((tool) => [tool.name, tool]));
  const root = rows.toReversed().reduce((children: MessageNode[], row) => [{ ...row, children }], []);
  await recallSession({ addresses, earlier, host: { tools } }, root);
  return { addresses, earlier };
}
/** A run whose only call is recorded with these metadata. */
function oneCall(
  tool: string,
  outcome: string,
  { input = {}, ...metadata }: { input?: object } & { readonly [name: string]: unknown },
) {
  const rows = createRows();
  const run = rows.run("lead", [0, 9], { task: "go" });
  const turn = rows.turn(run, [1, 2]);
  rows.call(turn, tool, outcome, [3, 4], {
    request_content: JSON.stringify(input),
    metadata_json: JSON.stringify({ tool, outcome, ...metadata }),
  });
  return rows.list;
}
const [A, B, C] = ["https://a.example/", "https://b.example/", "https://c.example/"];

test("what a person gave as a task, or said on the way, is known again; what a parent wrote into a task is not", async () => {
  const rows = createRows();
  const run = rows.run("lead", [0, 9], { task: `read ${A}` });
  const turn = rows.turn(run, [1, 8], {
    metadata_json: JSON.stringify({ steered: [`and ${B}`, "more.example"] }),
  });
  rows.run("child", [2, 7], { above: turn, task: `read ${C}`, metadata: { task: `read ${C}` } });
  const { addresses } = await recall(rows.list);
  expect([A, B, "https://more.example/", C].map((address) => addresses.has(address))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(addresses.carries(B)).toBe(false);
});

test("of a task to which the host added something only what the person wrote is known again", async () => {
  const rows = createRows();
  rows.run("lead", [0, 9], { task: `read ${A} as ${B} says`, metadata: { task: `read ${A}` } });
  const { addresses } = await recall(rows.list);
  expect([addresses.has(A), addresses.has(B)]).toEqual([true, false]);
});

test("what a call asked for is known again as it was: free, or carrying what the run knew", async () => {
  const { addresses } = await recall(oneCall("look", "ok", { requested: { free: [A], carrying: [B] } }));
  expect([A, B].map((address) => addresses.has(address))).toEqual([true, true]);
  expect([A, B].map((address) => addresses.carries(address))).toEqual([false, true]);
});

test("what an answer showed carries what the call carried", async () => {
  const free = await recall(oneCall("look", "ok", { requested: { free: [A], carrying: [] }, shown: [C] }));
  expect([free.addresses.has(C), free.addresses.carries(C)]).toEqual([true, false]);
  const carrying = await recall(oneCall("look", "ok", { requested: { carrying: [B] }, shown: [C] }));
  expect([carrying.addresses.has(C), carrying.addresses.carries(C)]).toEqual([true, true]);
});

test("addresses that stand only in a call's input or answer are not known", async () => {
  const { addresses } = await recall(oneCall("look", "denied", { input: { url: A } }));
  expect(addresses.has(A)).toBe(false);
});

test("later calls build upon those that were made, with their files, and not on those that were denied or not counted", async () => {
  const input = { to: "x@y.example" };
  const madeCalls = async (...given: Parameters<typeof oneCall>) => {
    const { earlier } = await recall(oneCall(...given));
    const next = earlier.note("mail", {});
    return earlier.before(next).map((call) => [call.input, call.files]);
  };
  expect(await madeCalls("mail", "ok", { input, files: [["a.txt", "created"]] })).toEqual([
    [input, ["a.txt"]],
  ]);
  expect(await madeCalls("mail", "error", { input })).toEqual([[input, []]]);
  expect(await madeCalls("mail", "denied", { input })).toEqual([]);
  expect(await madeCalls("mail", "error", { input, uncounted: true })).toEqual([]);
  expect(await madeCalls("mail", "ok", { input: { to: 1 } })).toEqual([]);
  expect(await madeCalls("removed", "ok", { input })).toEqual([]);
});

test("calls of tools whose calls do not build upon each other are not kept", async () => {
  const { earlier } = await recall(oneCall("look", "ok", {}));
  expect(earlier.before(earlier.note("look", {}))).toEqual([]);
});

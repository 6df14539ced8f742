import type { ApprovalRequest } from "@retinue/core/run/ports";
import type { EventBody } from "@retinue/core/schema/event";
import type { RunResult } from "@retinue/core/schema/result";
import { renderToString } from "ink";
import { createElement } from "react";
import { expect, test } from "vitest";
import { resultOf } from "../../../../test/fixtures/run-events.ts";
import { ScreenLines } from "./app.ts";
import { drawScreen } from "./draw-screen.ts";
import type { Key, KeyName } from "./editor.ts";
import { ARMING_MS } from "./question.ts";
import { createSpanPainter } from "./spans.ts";
import { reduce } from "./tui.ts";
import { type Action, createState, type Effect, type TuiState } from "./tui-state.ts";

/** A state that is worked on, with everything that was to be done. */
class Desk {
  state: TuiState = createState("project", "default");
  effects: Effect[] = [];
  nowMs = 1_000;
  rows: string[] = [];

  dispatch(action: Action): this {
    const [state, effects] = reduce(this.state, action);
    this.state = state;
    this.effects.push(...effects);
    return this;
  }
  key(key: Key): this {
    return this.dispatch({ type: "key", key, atMs: this.nowMs, rows: this.rows, page: 10, most: 100 });
  }
  press(...names: KeyName[]): this {
    for (const name of names) this.key({ name });
    return this;
  }
  type(text: string): this {
    return this.key({ name: "text", text });
  }
  event(body: EventBody, sessionId = "ses_1"): this {
    return this.dispatch({ type: "event", event: { ...body, sessionId, atMs: this.nowMs } });
  }
  started(runId: string, agent = "main", parentRunId: string | null = null, sessionId = "ses_1"): this {
    return this.event(
      {
        type: "run.started",
        runId,
        parentRunId,
        callId: null,
        messageId: 1,
        agent,
        displayName: agent,
        icon: null,
        depth: parentRunId ? 1 : 0,
        model: "local/mock",
        task: "t",
        attempt: 0,
      },
      sessionId,
    );
  }
  ended(runId: string, more: Partial<RunResult> = {}): this {
    return this.event({ type: "run.ended", runId, agent: "main", result: result(runId, more) });
  }
  taken(): Effect[] {
    return this.effects.splice(0);
  }
}

function result(runId: string, more: Partial<RunResult>): RunResult {
  return {
    ...resultOf(runId),
    agent: "main",
    summary: "",
    details: "",
    tokens: { self: 5, subtree: 15 },
    cost_usd: { self: 0, subtree: 0.5 },
    ...more,
  };
}

const request = (approvalId: string): ApprovalRequest => ({
  approvalId,
  runId: "run_1",
  sessionId: "ses_1",
  callId: "c",
  tool: "write",
  groups: [],
  targets: [],
  input: { path: "a" },
  inputHash: "h",
  risk: "medium",
  reason: "r",
  chain: ["main", "coder"],
  tainted: false,
  mustConfirm: false,
});

const running = () => new Desk().type("do it").press("enter").started("run_1");

test("Enter starts a task, and the run that begins is the conversation's", () => {
  const desk = new Desk().type("do it").press("enter");
  expect(desk.taken()).toEqual([
    { kind: "remember", text: "do it" },
    { kind: "start", text: "do it" },
  ]);
  desk.started("run_1");
  expect(desk.state).toMatchObject({ sessionId: "ses_1", rootRunId: "run_1", starting: false });
  expect(desk.state.editor.text).toBe("");
});

test("a backslash before Enter, Alt-Enter and a paste with line ends make lines and send nothing", () => {
  const desk = new Desk().type("a\\").press("enter").type("b").press("newline").type("c\nd");
  expect(desk.state.editor.text).toBe("a\nb\nc\nd");
  expect(desk.taken()).toEqual([]);
});

test("while a task begins, nothing else is sent and nothing is lost", () => {
  const desk = new Desk().type("one").press("enter");
  desk.taken();
  desk.type("two").press("enter");
  expect(desk.taken()).toEqual([]);
  expect(desk.state.editor.text).toBe("two");
});

test("a message while something runs steers the root, or the run that is selected", () => {
  const desk = running().started("run_2", "coder", "run_1");
  desk.taken();
  desk.type("faster").press("enter");
  expect(desk.taken()).toContainEqual({ kind: "steer", runId: "run_1", text: "faster" });
  desk.rows = ["run_1", "run_2"];
  desk.press("tab", "down").type("only tests").press("enter");
  expect(desk.taken()).toContainEqual({ kind: "steer", runId: "run_2", text: "only tests" });
  expect(desk.state.entries.at(-1)).toMatchObject({ kind: "person", to: { agent: "coder", fate: "sent" } });
});

test("a steering message is marked as read, or as unread if its run ends first", () => {
  const desk = running().type("one").press("enter");
  desk.event({ type: "run.steered", runId: "run_1", text: "one" }).type("two").press("enter").ended("run_1");
  const fates = desk.state.entries.flatMap((entry) => (entry.kind === "person" ? [entry.to?.fate] : []));
  expect(fates).toEqual([undefined, "read", "unread"]);
});

test("streamed text grows, and the whole text of the turn replaces it", () => {
  const desk = running();
  const turn = { runId: "run_1", turn: 1 };
  desk.event({ type: "text.streamed", ...turn, text: "Hel" });
  desk.event({ type: "text.streamed", ...turn, text: "lo" });
  expect(desk.state.entries.at(-1)).toMatchObject({ kind: "agent", text: "Hello", streaming: true });
  const end = { messageId: 2, calls: [], usage: null, costUsd: null };
  desk.event({ type: "turn.ended", ...turn, ...end, text: "Hello." }).ended("run_1", { details: "Hello." });
  const said = desk.state.entries.filter((entry) => entry.kind === "agent");
  expect(said).toMatchObject([{ text: "Hello.", streaming: false }]);
});

test("a failed turn removes the text that it streamed", () => {
  const desk = running();
  desk.event({ type: "text.streamed", runId: "run_1", turn: 1, text: "Hel" });
  const error = { type: "network", message: "lost", recoverable: true } as const;
  const end = { messageId: 2, calls: [], usage: null, costUsd: null, text: "Hel", error };
  desk.event({ type: "turn.ended", runId: "run_1", turn: 1, ...end });
  expect(desk.state.entries.some((entry) => entry.kind === "agent")).toBe(false);
});

test("what sub-agents say and call stays out of the conversation", () => {
  const desk = running().started("run_2", "coder", "run_1");
  const before = desk.state.entries;
  desk.event({ type: "text.streamed", runId: "run_2", turn: 1, text: "x" });
  desk.event({ type: "call.started", runId: "run_2", callId: "c", messageId: 3, tool: "read", input: {} });
  expect(desk.state.entries).toEqual(before);
});

test("an unknown price makes the sum unknown", () => {
  const desk = running().ended("run_1").type("more").press("enter").started("run_3");
  expect(desk.state.spent).toEqual({ tokens: 15, costUsd: 0.5, tasks: 1 });
  desk.ended("run_3", { cost_usd: { self: null, subtree: null } });
  expect(desk.state.spent).toEqual({ tokens: 30, costUsd: null, tasks: 2 });
});

test("Esc stops the conversation's run, and a second Esc the other tasks", () => {
  const desk = running().started("run_9", "coder", null, "ses_9");
  desk.taken();
  expect(desk.press("esc").taken()).toEqual([{ kind: "cancel", ids: ["ses_1"] }]);
  desk.ended("run_1");
  expect(desk.press("esc").taken()).toEqual([{ kind: "cancel", ids: ["ses_9"] }]);
});

test("Ctrl-C stops everything, a second one leaves, and another key in between cancels leaving", () => {
  const desk = running();
  desk.taken();
  expect(desk.press("interrupt").taken()).toEqual([{ kind: "cancel", ids: ["ses_1"] }]);
  desk.type("x").press("interrupt");
  expect(desk.taken()).toEqual([{ kind: "cancel", ids: ["ses_1"] }]);
  expect(desk.press("interrupt").taken()).toEqual([{ kind: "leave" }]);
  desk.nowMs += 60_000;
  expect(desk.press("interrupt").taken()).toEqual([{ kind: "leave" }]);
});

test("two Ctrl-C with a pause between them do not leave", () => {
  const desk = new Desk().press("interrupt");
  desk.nowMs += 2_001;
  expect(desk.press("interrupt").taken()).toEqual([]);
});

test("letters typed just as a question comes up go into the input and answer nothing", () => {
  const desk = running()
    .type("wh")
    .dispatch({ type: "asked", request: request("apr_1"), atMs: 1_000 });
  desk.taken();
  desk.type("y");
  desk.nowMs += ARMING_MS - 1;
  desk.type("a");
  expect(desk.taken()).toEqual([]);
  expect(desk.state.editor.text).toBe("whya");
  desk.nowMs += ARMING_MS;
  expect(desk.type("y").taken()).toMatchObject([
    { kind: "answer", approvalId: "apr_1", answer: { allowed: true, scope: "once" } },
  ]);
});

test("a question is answered for the run, or denied with a note", () => {
  const desk = running().dispatch({ type: "asked", request: request("apr_1"), atMs: 1_000 });
  desk.dispatch({ type: "asked", request: request("apr_2"), atMs: 1_000 });
  desk.taken();
  desk.nowMs += ARMING_MS;
  expect(desk.type("a").taken()).toMatchObject([{ approvalId: "apr_1", answer: { scope: "run" } }]);
  expect(desk.type("y").taken()).toEqual([]);
  desk.nowMs += 2 * ARMING_MS;
  desk.type("n").type("use test/ instead").press("enter");
  expect(desk.taken()).toEqual([
    {
      kind: "answer",
      approvalId: "apr_2",
      answer: { allowed: false, by: "the person at the terminal", note: "use test/ instead" },
    },
  ]);
  expect(desk.state.approvals).toEqual([]);
});

test("a question that goes away does not hand its answer to the next one", () => {
  const desk = running().dispatch({ type: "asked", request: request("apr_1"), atMs: 1_000 });
  desk.dispatch({ type: "asked", request: request("apr_2"), atMs: 1_000 });
  desk.taken();
  desk.nowMs += ARMING_MS;
  desk.dispatch({ type: "unasked", approvalId: "apr_1", atMs: desk.nowMs });
  expect(desk.type("y").taken()).toEqual([]);
});

test("Enter never answers a question, and Esc stops the run that asks", () => {
  const desk = running().dispatch({ type: "asked", request: request("apr_1"), atMs: 0 });
  desk.taken();
  expect(desk.press("enter").taken()).toEqual([]);
  expect(desk.press("esc").taken()).toEqual([{ kind: "cancel", ids: ["ses_1"] }]);
});

test("earlier inputs come back with Up, and what was being written with Down", () => {
  const desk = new Desk().dispatch({ type: "history", items: ["first", "second"] }).type("new");
  desk.press("up", "up", "up");
  expect(desk.state.editor.text).toBe("first");
  desk.press("down", "down", "down");
  expect(desk.state.editor.text).toBe("new");
});

test("an input that begins with a blank is not kept", () => {
  expect(new Desk().type(" secret").press("enter").taken()).toEqual([{ kind: "start", text: "secret" }]);
});

test("a completed slash command without arguments is sent at once, any other waits for them", () => {
  const desk = new Desk().type("/cos").press("enter");
  expect(desk.taken()).toContainEqual({ kind: "command", name: "cost", rest: "" });
  desk.type("/sp").press("enter");
  expect(desk.taken()).toEqual([]);
  expect(desk.state.editor.text).toBe("/spawn ");
  desk.type("coder fix it").press("enter");
  expect(desk.taken()).toContainEqual({ kind: "command", name: "spawn", rest: "coder fix it" });
});

test("a path is not taken for a slash command", () => {
  expect(new Desk().type("/usr/bin is full").press("enter").taken()).toContainEqual({
    kind: "start",
    text: "/usr/bin is full",
  });
});

test("an @ asks for the files once and completes to one of them", () => {
  const desk = new Desk().type("see @ma");
  expect(desk.taken()).toEqual([{ kind: "list-files" }]);
  desk.dispatch({ type: "files", items: ["docs/a.md", "src/main.ts"] }).press("tab");
  expect(desk.state.editor.text).toBe("see @src/main.ts ");
  expect(desk.type("a@b").taken()).toEqual([]);
});

test("Ctrl-O opens a sub-agent's transcript, which scrolls and closes with Esc", () => {
  const desk = running().started("run_2", "coder", "run_1");
  desk.taken();
  expect(desk.press("open").taken()).toEqual([{ kind: "open", runId: "run_2" }]);
  desk.dispatch({ type: "transcript", transcript: { runId: "run_2", title: "coder", text: "x" } });
  desk.press("up", "pageup");
  expect(desk.state.transcript?.scroll).toBe(11);
  desk.dispatch({ type: "transcript", transcript: { runId: "run_2", title: "coder", text: "x y" } });
  expect(desk.state.transcript?.scroll).toBe(11);
  expect(desk.press("esc").taken()).toEqual([]);
  expect(desk.state.transcript).toBeNull();
});

test("the component shows the drawn lines as they are, blank ones too", () => {
  const [columns, rows] = [60, 12];
  const drawTree = () => ({ lines: [], runIds: [] });
  const screen = drawScreen(createState("project", "default"), {
    columns,
    rows,
    nowMs: 0,
    paint: createSpanPainter(false),
    drawTree,
  });
  const shown = renderToString(createElement(ScreenLines, { screen, columns, rows }), { columns }).split(
    "\n",
  );
  expect(shown.map((line) => line.trimEnd())).toEqual(screen.lines.map((line) => line.trimEnd()));
});

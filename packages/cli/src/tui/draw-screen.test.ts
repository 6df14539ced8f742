import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { measureWidth } from "../text-layout.ts";
import { type DrawnScreen, drawScreen } from "./draw-screen.ts";
import { createEditor } from "./editor.ts";
import { createSpanPainter } from "./spans.ts";
import { reduce } from "./tui.ts";
import { createState, type TalkEntry, type TuiState } from "./tui-state.ts";

const NOTHING = { lines: [], runIds: [] };

function draw(state: TuiState, columns: number, rows: number, colour = false): DrawnScreen {
  return drawScreen(state, {
    columns,
    rows,
    nowMs: 10_000,
    paint: createSpanPainter(colour),
    drawTree: (width, height) => ({
      lines: Array<string>(Math.min(3, height)).fill("x".repeat(width)),
      runIds: ["run_1", "run_2", null].slice(0, height),
    }),
  });
}
const withEntries = (...entries: TalkEntry[]): TuiState => ({
  ...createState("p", "default"),
  ready: true,
  entries,
});
const text = (screen: DrawnScreen) => screen.lines.map((line) => line.trimEnd()).join("\n");

const hostile = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.constantFrom(
    "\u001b[2J\u001b]0;title\u0007",
    "漢字".repeat(90),
    "👩‍👩‍👧 ".repeat(30),
    "# a\n- b\n```\nc",
    "a\tb\r\nc",
  ),
);
const entry: fc.Arbitrary<TalkEntry> = fc.oneof(
  hostile.map((said): TalkEntry => ({ kind: "person", text: said })),
  hostile.map(
    (said): TalkEntry => ({ kind: "agent", runId: "r", agent: said, text: said, streaming: false }),
  ),
  hostile.map((said): TalkEntry => ({ kind: "notice", level: "error", text: said })),
  hostile.map((said): TalkEntry => ({ kind: "output", text: said })),
);

test("every screen has as many lines as the window, none wider, and no control but colours", () => {
  fc.assert(
    fc.property(
      fc.record({
        entries: fc.array(entry, { maxLength: 6 }),
        typed: hostile,
        columns: fc.integer({ min: 2, max: 200 }),
        rows: fc.integer({ min: 2, max: 60 }),
        colour: fc.boolean(),
        asked: fc.option(hostile),
        transcript: fc.option(hostile),
      }),
      ({ entries, typed, columns, rows, colour, asked, transcript }) => {
        let state: TuiState = {
          ...withEntries(...entries),
          editor: createEditor(typed.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, " ")),
          transcript:
            transcript === null ? null : { runId: "r", title: transcript, text: transcript, scroll: 0 },
        };
        if (asked !== null) [state] = reduce(state, { type: "asked", request: question(asked), atMs: 0 });
        const { lines, cursor } = draw(state, columns, rows, colour);
        expect(lines).toHaveLength(rows);
        for (const line of lines) {
          expect(measureWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(columns);
          expect(line.replaceAll(new RegExp(`${"\\u001b"}\\[[0-9;]*m`, "g"), "")).not.toMatch(
            /\p{Cc}|\p{Bidi_Control}/u,
          );
          if (!colour) expect(line).not.toContain("\u001b");
        }
        if (cursor) expect([cursor.x < columns, cursor.y < rows, cursor.x >= 0]).toEqual([true, true, true]);
      },
    ),
  );
});

function question(said: string) {
  return {
    approvalId: "apr_1",
    runId: "run_1",
    sessionId: "ses_1",
    callId: "c",
    tool: said,
    groups: [],
    targets: [],
    input: {},
    presented: said,
    inputHash: "h",
    risk: "high",
    reason: said,
    chain: ["main", said],
    tainted: true,
    mustConfirm: false,
  } as const;
}

test("the tree is beside the conversation from 120 columns on, and below it in a narrower window", () => {
  const state = withEntries({ kind: "person", text: "hello" });
  expect(draw(state, 120, 24).lines[0]).toMatch(/^❯ hello +│ x+$/);
  const narrow = draw(state, 119, 24).lines;
  expect(narrow[0]).toBe("❯ hello");
  expect(narrow.findIndex((line) => line.startsWith("xxx"))).toBeGreaterThan(10);
});

test("a question shows the whole chain, the risk, the reason and the call, and how to answer", () => {
  const request = {
    ...question("send"),
    chain: ["main", "mailer", "sender"],
    presented: "To: a@b.c\nHello",
    reason: "it sends",
  };
  const [state] = reduce(withEntries(), { type: "asked", request, atMs: 0 });
  const shown = text(draw(state, 80, 24));
  for (const part of [
    "main › mailer › sender",
    "high · untrusted text",
    "it sends",
    "To: a@b.c",
    "Hello",
    "y allow once",
  ])
    expect(shown).toContain(part);
});

test("in a tiny window a question still names the tool and who asks, and every answer", () => {
  const request = {
    ...question("send"),
    chain: ["main", "middle", "the-one-that-asks-for-it"],
    reason: "because ".repeat(60),
  };
  const [state] = reduce(withEntries(), { type: "asked", request, atMs: 0 });
  const shown = text(draw(state, 40, 10));
  for (const part of ["Approval needed: send", "the-one-that-asks", "risk    high", "reason  because"])
    expect(shown).toContain(part);
  expect(shown).toContain("y once   a this run   n deny");
});

test("a question shows a command, a delegation or a mail as text, never as escaped JSON", () => {
  const shownFor = (input: unknown, presented?: string) => {
    const request = { ...question("any"), input, ...(presented !== undefined && { presented }) };
    const { presented: _, ...plain } = request;
    const asked = presented === undefined ? plain : request;
    const [state] = reduce(withEntries(), { type: "asked", request: asked, atMs: 0 });
    return text(draw(state, 80, 40));
  };
  const command = shownFor({ command: 'echo "a" |\n  tee "b c"', cwd: "src" });
  for (const part of ['│ echo "a" |', '│   tee "b c"', "│ cwd: src"]) expect(command).toContain(part);
  const delegation = shownFor({ agent: "coder", task: 'Say "hi"\nthen stop', tools: ["read", "write"] });
  for (const part of ["│ agent: coder", '│   Say "hi"', "│   then stop", "│   - read"])
    expect(delegation).toContain(part);
  for (const shown of [command, delegation]) expect(shown).not.toMatch(/\\n|\\"|[{}]/);
});

test("a question about a file shows the change with its signs, all of it", () => {
  const diff = `--- a/x.ts\n+++ b/x.ts\n@@ -1,1 +1,60 @@\n-old\n${Array.from({ length: 60 }, (_, at) => `+new ${at}`).join("\n")}\n`;
  const request = { ...question("edit"), input: { path: "x.ts", edits: [{ old: "old", new: "n\n" }] } };
  let [state] = reduce(withEntries(), { type: "asked", request, diff, atMs: 0 });
  const first = draw(state, 80, 40);
  expect(text(first)).toMatch(/│ @@ -1,1 \+1,60 @@\n│ -old\n│ \+new 0/);
  for (let count = 0; count < 30; count++)
    [state] = reduce(state, {
      type: "key",
      key: { name: "pagedown" },
      atMs: 5_000,
      rows: [],
      page: 5,
      most: first.most,
    });
  expect(text(draw(state, 80, 40))).toContain("│ +new 59");
});

test("a question hides nothing of the call that escape codes would hide", () => {
  const request = { ...question("shell"), presented: "ls \u009bx;reboot;\u009c" };
  const [state] = reduce(withEntries(), { type: "asked", request, atMs: 0 });
  expect(text(draw(state, 80, 24))).toContain("ls \\u009bx;reboot;\\u009c");
});

test("a long call can be scrolled to its last line", () => {
  const presented = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
  let [state] = reduce(withEntries(), {
    type: "asked",
    request: { ...question("send"), presented },
    atMs: 0,
  });
  expect(text(draw(state, 80, 24))).not.toContain("line 99");
  const { most } = draw(state, 80, 24);
  for (let count = 0; count < 30; count++)
    [state] = reduce(state, {
      type: "key",
      key: { name: "pagedown" },
      atMs: 5_000,
      rows: [],
      page: 10,
      most,
    });
  expect(text(draw(state, 80, 24))).toContain("line 99");
});

test("scrolling back shows the beginning of a long conversation", () => {
  const entries = Array.from(
    { length: 50 },
    (_, index): TalkEntry => ({ kind: "person", text: `said ${index}` }),
  );
  const state = withEntries(...entries);
  expect(text(draw(state, 80, 24))).toContain("said 49");
  const { most } = draw(state, 80, 24);
  expect(text(draw({ ...state, scroll: most }, 80, 24))).toContain("said 0\n");
});

test("Markdown marks are removed, its structure stays, and a link shows its address", () => {
  const said = "# Title\n\n- **one** `two`\n\n```ts\nconst a = 1;\n```\n[here](https://example.org)";
  const state = withEntries({ kind: "agent", runId: "r", agent: "main", text: said, streaming: false });
  const { lines } = drawScreen(state, {
    columns: 80,
    rows: 24,
    nowMs: 0,
    paint: createSpanPainter(false),
    drawTree: () => NOTHING,
  });
  expect(lines.slice(0, 6).map((line) => line.trimEnd())).toEqual([
    "● Title",
    "",
    "  • one two",
    "",
    "    const a = 1;",
    "  here (https://example.org)",
  ]);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { createRows } from "../../../../test/fixtures/made-rows.ts";
import { buildTrace } from "./trace-tree.ts";
import { writeTranscript } from "./write-transcript.ts";

function transcript(text: string): string {
  const rows = createRows();
  const run = rows.run("main", [0, 10], { task: text, error: text });
  const turn = rows.turn(run, [0, 5], { response_content: text });
  rows.call(turn, "read", "ok", [5, 6], { request_content: text, response_content: text });
  rows.run("a", [6, 9], { above: turn, task: "small" });
  const at = "2026-01-01T00:00:00.000Z";
  const session = {
    session_id: "ses_1",
    title: text,
    project: text,
    workspace: "/w",
    created_at: at,
    updated_at: at,
    status: "completed" as const,
    metadata_json: null,
  };
  return writeTranscript(buildTrace({ session, state: "completed", rows: rows.list, nowMs: 0 }));
}

/** Lines of a Markdown text that are in no code block. */
function outside(markdown: string): string[] {
  let fence = "";
  return markdown.split("\n").filter((line) => {
    const [ticks = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && ticks !== "") {
      fence = ticks;
      return false;
    }
    if (fence !== "" && line.startsWith(fence) && line.trim() === fence) fence = "";
    else if (fence === "") return true;
    return false;
  });
}

test("a transcript numbers runs by their place and tells what each was asked, did and answered", () => {
  const text = transcript("do it");
  expect(text).toMatch(/^# do it\n/);
  expect(text).toContain("## 1 main: do it");
  expect(text).toContain("### 1.1 a: small");
  expect(text).toContain("**Call read** (ok, 1ms)");
});

test("no text of the record gets out of its code block", () => {
  const hostile = "```\n# out\n![x](http://evil.example/x.png)\n<img src=x onerror=alert(1)>\n````";
  const plain = outside(transcript(hostile)).join("\n");
  expect(plain).not.toMatch(/!\[x\]\(/);
  expect(plain).not.toMatch(/(?<!\\)<img/);
  expect(plain.match(/^#+ /gm)).toHaveLength(3);
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("`", "~", "\n", "#", "<", "!", "[", "]", "(", ")", "a", " ", "\u0000"),
      }),
      (text) => {
        expect(outside(transcript(text)).join("\n").match(/^#+ /gm)).toHaveLength(3);
      },
    ),
  );
});

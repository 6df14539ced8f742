import { callTool, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { describeRun } from "./transcript.ts";

const look = defineTool<object>({
  name: "look",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async () => "```\nfound\n```",
});

test("a transcript has the task, every turn, every call and what came back, and how it ended", async () => {
  await using t = testRuntime(
    { lead: ({ turn }) => (turn === 0 ? callTool("look", { at: "x" }) : say("It is there.")) },
    { tools: [look] },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "Where is it?" });
  await t.runtime.record.committed();
  const [run] = await t.runtime.record.readRows({ sessionId: session_id, kind: "runs" });
  if (!run) throw new Error("nothing was recorded");
  const text = await describeRun(run, t.runtime.record);
  const parts = [
    "Where is it?",
    '**look** {"at":"x"}',
    "````\n```\nfound\n```\n````",
    "It is there.",
    "completed after",
  ];
  const places = parts.map((part) => text.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});

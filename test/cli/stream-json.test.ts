import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

type Line = {
  type: string;
  subtype?: string;
  parent_tool_use_id?: string | null;
  message: {
    content: { type: string; id?: string; tool_use_id?: string; content?: string; is_error?: boolean }[];
  };
  [key: string]: unknown;
};

test("a stream has Claude Code's shape, with sub-agents marked by the call that made them", async () => {
  await using world = new World();
  world.model = await startModel(({ system, turn }) => {
    if (system.includes("You are main.")) {
      if (turn > 0) return { text: "finished" };
      return {
        text: "I ask the scout.",
        calls: [
          { name: "delegate", input: { agent: "scout", task: "look" } },
          { name: "write", input: { path: "x", content: "y" } },
        ],
      };
    }
    return turn === 0 ? { calls: [{ name: "ls", input: {} }] } : { text: "seen" };
  });
  world.agent("main", "subagents: [scout]\ntools: [read, ls, write]\naskTools: [write]");
  world.agent("scout", "tools: [ls]");
  const { code, stdout, stderr } = await world.call(["run", "look around", "--output-format", "stream-json"]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line));

  const [init] = lines;
  expect(init).toMatchObject({ type: "system", subtype: "init", model: "local/mock", agent: "main" });
  expect(init?.tools).toEqual(["read", "write", "ls", "delegate", "delegate_many", "collect_results"]);
  expect(init?.agents).toEqual(expect.arrayContaining(["main", "scout"]));
  for (const line of lines) expect(line.session_id).toBe(init?.session_id);

  const said = lines.filter((line) => line.type === "assistant");
  expect(said[0]?.message.content).toEqual([
    { type: "text", text: "I ask the scout." },
    { type: "tool_use", id: expect.any(String), name: "delegate", input: { agent: "scout", task: "look" } },
    { type: "tool_use", id: expect.any(String), name: "write", input: { path: "x", content: "y" } },
  ]);
  const delegateId = said[0]?.message.content[1]?.id;
  expect(said.map((line) => line.parent_tool_use_id)).toEqual([null, delegateId, delegateId, null]);

  const answers = lines
    .filter((line) => line.type === "user")
    .map((line) => ({ ...line.message.content[0], of: line.parent_tool_use_id }));
  expect(answers).toHaveLength(3);
  expect(answers).toContainEqual({
    type: "tool_result",
    tool_use_id: delegateId,
    content: expect.stringMatching(/^<subagent_result agent="scout"[^>]*>\ncompleted · .*\n\nseen\n/),
    is_error: false,
    of: null,
  });
  expect(answers.find((answer) => answer.of === delegateId)?.content).toContain(".retinue/");

  const last = lines.at(-1);
  expect(last).toMatchObject({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "finished",
    num_turns: 2,
    total_cost_usd: null,
    usage: { input_tokens: 40, output_tokens: 20 },
    permission_denials: [{ tool_name: "write", tool_input: { path: "x", content: "y" } }],
    subagent_stats: { runs: 1, succeeded: 1, failed: 0, by_agent: { scout: { runs: 1 } } },
  });
  expect(code).toBe(54);
  expect(stderr).not.toContain("▶");
});

test("a run that reaches its turns ends with error_max_turns", async () => {
  await using world = new World();
  world.model = await startModel(({ last }) =>
    last.includes("limit") ? { text: "half" } : { calls: [{ name: "ls", input: {} }] },
  );
  world.agent("main", "");
  const { code, stdout } = await world.call([
    "run",
    "go on",
    "--output-format",
    "stream-json",
    "--max-turns",
    "1",
  ]);
  const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}");
  expect(last).toMatchObject({ type: "result", subtype: "error_max_turns", is_error: true, result: "half" });
  expect(code).toBe(53);
});

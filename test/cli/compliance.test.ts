import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

type Part = { type: string; tool_use_id?: string; content?: string; is_error?: boolean };
type Line = { type: string; message: { content: Part[] }; [key: string]: unknown };

const isMain = ({ system }: ModelRequest) => system.includes("You are main.");
const ask = { calls: [{ name: "delegate", input: { agent: "writer", task: "write the report" } }] };
const LACKS =
  "COMPLIANCE ERROR: writer did not leave what its contract demands: `project:report.md` (no such file).";

async function play(script: (request: ModelRequest) => ModelReply, main: string): Promise<World> {
  const world = new World();
  world.model = await startModel(script);
  world.agent("main", main);
  world.agent("writer", "tools: [read, write]\ndeliverables: ['project:report.md']");
  return world;
}

const MAIN = "subagents: [writer]\ntools: [read, write]";

test("a script learns of a sub-agent's missing deliverable: exit code 1, is_error, the error in warnings", async () => {
  await using world = await play(
    (request) => (isMain(request) && request.turn === 0 ? ask : { text: "All is done." }),
    MAIN,
  );
  const { code, stdout, stderr } = await world.call(["run", "go", "--output-format", "json"]);
  const result = JSON.parse(stdout);
  expect(code).toBe(1);
  expect(result).toMatchObject({
    subtype: "error_during_execution",
    is_error: true,
    status: "failed",
    success: false,
    result: "All is done.",
    error: { type: "deliverable", message: LACKS },
    unmet: [{ agent: "writer", deliverable: "project:report.md", reason: "no such file" }],
  });
  expect(result.warnings).toContain(LACKS);
  expect(stderr).toContain(LACKS);
});

test("a stream carries the answer to a delegation exactly as the parent's model got it", async () => {
  await using world = await play(
    (request) => (isMain(request) && request.turn === 0 ? ask : { text: "All is done." }),
    MAIN,
  );
  const { code, stdout } = await world.call(["run", "go", "--output-format", "stream-json"]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  const [answer] = lines.filter((line) => line.type === "user").map((line) => line.message.content[0]);
  const told = world.model?.requests.find((request) => isMain(request) && request.turn === 1)?.last;
  expect(answer).toMatchObject({ type: "tool_result", is_error: true, content: told });
  expect(answer?.content).toContain(LACKS);
  expect(lines.at(-1)).toMatchObject({ type: "result", subtype: "error_during_execution", is_error: true });
  expect(code).toBe(1);
});

test.each([
  [
    "a later delegation leaves it",
    (turn: number): ModelReply => (turn < 2 ? ask : { text: "Now it is there." }),
  ],
  [
    "the parent leaves it itself",
    (turn: number): ModelReply => {
      if (turn === 0) return ask;
      if (turn === 1) return { calls: [{ name: "write", input: { path: "report.md", content: "# All" } }] };
      return { text: "Now it is there." };
    },
  ],
])("a missing deliverable that is repaired is no failure: %s", async (_, lead) => {
  await using world = await play((request) => {
    if (isMain(request)) return lead(request.turn);
    const second = world.model?.requests.filter((one) => isMain(one)).length === 2;
    if (!second || request.turn > 0) return { text: "Written." };
    return { calls: [{ name: "write", input: { path: "report.md", content: "# All" } }] };
  }, MAIN);
  const { code, stdout } = await world.call([
    "run",
    "go",
    "--output-format",
    "json",
    "--permission-mode",
    "acceptEdits",
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    subtype: "success",
    is_error: false,
    status: "completed",
    success: true,
  });
  expect(code).toBe(0);
});

import { expect, test } from "vitest";
import { RetinueError } from "../schema/error.ts";
import { type AgentInput, defineAgent, parseAgentValue } from "./define-agent.ts";

const least: AgentInput = {
  name: "Report Expert",
  description: "Writes reports.",
  prompt: "You write reports.",
};

function thrownBy(input: object): RetinueError {
  try {
    defineAgent({ ...least, ...input });
  } catch (thrown) {
    if (thrown instanceof RetinueError) return thrown;
  }
  throw new Error("it did not throw a RetinueError");
}

test("name, description and prompt are enough", () => {
  expect(defineAgent(least)).toMatchObject({
    name: "report-expert",
    displayName: "Report Expert",
    model: "inherit",
    context: "task_only",
    workspace: "shared",
    flow: "loop",
    enabled: true,
    source: { format: "code", scope: "code" },
  });
  expect(defineAgent(least).tools).toBeUndefined();
});

test("a prompt is taken as it is, whatever it looks like", () => {
  expect(defineAgent({ ...least, prompt: "---\nRead {file:x}." }).prompt).toBe("---\nRead {file:x}.");
});

test("vendor tool names and sub-agents are understood", () => {
  const agent = defineAgent({ ...least, tools: ["Read", "Agent(scout)"], subagents: { deny: ["main"] } });
  expect(agent.tools).toEqual(["read"]);
  expect(agent.subagents).toEqual({
    allow: ["scout"],
    deny: ["main"],
    execution: "parallel",
    maxConcurrent: 5,
    recursive: false,
  });
});

test("every problem is listed at once", () => {
  const error = thrownBy({ description: "", limits: { turns: -1 }, modle: "fast" });
  expect(error.code).toBe("config");
  for (const part of ["description", "limits.turns is -1", "did you mean 'model'?"])
    expect(error.message).toContain(part);
});

test("an empty prompt or a tool nobody knows is refused", () => {
  expect(thrownBy({ prompt: " " }).message).toContain("no instructions");
  expect(() => defineAgent({ ...least, tools: ["reed"] }, { known: { tools: new Set(["read"]) } })).toThrow(
    "reed",
  );
});

test("a value that is no object is an error, not a throw", () => {
  for (const value of [null, 5, "x", []]) expect(parseAgentValue(value).problems[0]?.severity).toBe("error");
});

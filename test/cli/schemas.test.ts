import { readFileSync } from "node:fs";
import { ERROR_TYPES } from "@retinue/core/schema/result";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

const read = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8"));

/** The published schema with every object closed, so that a field which it does not name is found. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  return "properties" in copy && "type" in copy ? { additionalProperties: false, ...copy } : copy;
}

const ajv = new Ajv({ allowUnionTypes: true });
for (const name of ["result.schema.json", "stream-json.schema.json"])
  ajv.addSchema(closed(read(name)) as object);

function faultsOf(schema: string, value: unknown): string[] {
  ajv.validate(schema, value);
  return (ajv.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
  );
}

type Line = { type: string; subtype?: string; parent_tool_use_id?: string; message: { content: Part[] } };
type Part = { type: string; id?: string; tool_use_id?: string };

/** Runs a task as a stream and as JSON in worlds of their own, and holds both against what is published. */
async function both(
  make: () => Promise<World>,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; lines: Line[]; result: Record<string, unknown> }> {
  await using first = await make();
  const stream = await first.call([...args, "--output-format", "stream-json"], { env });
  const lines = stream.stdout
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  for (const line of lines) expect([line, faultsOf("stream-json.schema.json", line)]).toEqual([line, []]);
  expect(lines[0]).toMatchObject({ type: "system", subtype: "init" });
  expect(lines.filter((line) => line.type === "result")).toEqual([lines.at(-1)]);
  await using second = await make();
  const whole = await second.call([...args, "--output-format", "json"], { env });
  const result: Record<string, unknown> = JSON.parse(whole.stdout);
  expect(faultsOf("result.schema.json", result)).toEqual([]);
  expect([whole.code, result.subtype, result.is_error]).toEqual([
    stream.code,
    lines.at(-1)?.subtype,
    lines.at(-1)?.subtype !== "success",
  ]);
  return { code: stream.code, lines, result };
}

/** Every call with the answer to it, each in the message of the agent that made the call. */
function answeredCalls(lines: readonly Line[]): { calls: string[]; answers: string[] } {
  const parts = (type: string) =>
    lines
      .filter((line) => line.type === type)
      .flatMap((line) => line.message.content.map((part) => ({ part, of: line.parent_tool_use_id })));
  return {
    calls: parts("assistant").flatMap(({ part, of }) => (part.id ? [`${of} ${part.id}`] : [])),
    answers: parts("user").map(({ part, of }) => `${of} ${part.tool_use_id}`),
  };
}

const play = (script: (request: ModelRequest) => ModelReply, agents: Record<string, string>) => async () => {
  const world = new World();
  world.model = await startModel(script);
  for (const [name, fields] of Object.entries(agents)) world.agent(name, fields);
  return world;
};

const isMain = ({ system }: ModelRequest) => system.includes("You are main.");
const write = { name: "write", input: { path: "x", content: "y" } };

test("a tree with parallel sub-agents, a denied call, an unknown tool and a failure fits the schemas", async () => {
  const make = play(
    (request) => {
      if (isMain(request) && request.turn === 0)
        return {
          text: "I ask around.",
          calls: [
            { name: "delegate", input: { agent: "scout", task: "look" } },
            { name: "delegate", input: { agent: "writer", task: "write" } },
            { name: "delegate", input: { agent: "nobody", task: "?" } },
            { name: "delegate_many", input: { tasks: [{ id: "a", agent: "scout", task: "again" }] } },
            { name: "juggle", input: { balls: 3 } },
            write,
          ],
        };
      if (isMain(request)) return { text: "finished" };
      if (request.system.includes("You are writer.")) return { text: "I wrote it." };
      return request.turn === 0 ? { calls: [{ name: "ls", input: {} }] } : { text: "seen" };
    },
    {
      main: "subagents: [scout, writer]\ntools: [read, ls, write]\naskTools: [write]",
      scout: "tools: [ls]",
      writer: "deliverables: [report.md]",
    },
  );
  const { code, lines, result } = await both(make, ["run", "look around"]);
  expect(code).toBe(54);
  expect(result).toMatchObject({
    subtype: "error_during_execution",
    result: "finished",
    details: "finished",
    unmet: [{ agent: "writer", deliverable: "report.md" }],
  });
  expect(result.permission_denials).toEqual([expect.objectContaining({ tool_name: "write" })]);
  expect(result.subagent_stats).toMatchObject({
    runs: 3,
    succeeded: 2,
    failed: 1,
    by_agent: { writer: { failed: 1 } },
  });
  const { calls, answers } = answeredCalls(lines);
  expect(answers.toSorted()).toEqual(calls.toSorted());
  expect(calls).toHaveLength(8);
});

test("a model that fails fits the schemas", async () => {
  const broken = play(() => ({ status: 400, message: "no such thing" }), { main: "" });
  const failed = await both(broken, ["run", "try"]);
  expect([failed.code, failed.result.subtype]).toEqual([1, "error_during_execution"]);
  expect(failed.result.error).toMatchObject({ message: expect.stringContaining("no such thing") });
});

test("a run that reaches a limit fits the schemas", async () => {
  const endless = play(
    ({ last }) => (last.includes("limit") ? { text: "half" } : { calls: [{ name: "ls", input: {} }] }),
    { main: "" },
  );
  const limited = await both(endless, ["run", "go on", "--max-turns", "1"]);
  expect([limited.code, limited.result.subtype]).toEqual([53, "error_max_turns"]);
});

test("a run without a model fits the schemas", async () => {
  const offline = async () => {
    const world = new World();
    world.write("README.md", "# Bakery\n");
    return world;
  };
  const ruled = await both(offline, ["run", "list the files"], { RETINUE_DISCOVER: "0" });
  expect([ruled.code, ruled.result.model]).toEqual([0, "offline/rules"]);
});

test("a parked session says what it waits for, and fits the schemas", async () => {
  const make = play(
    (request) => {
      if (!isMain(request)) return request.turn === 0 ? { calls: [write] } : { text: "written" };
      return request.turn === 0
        ? { calls: [{ name: "delegate", input: { agent: "writer", task: "write" } }] }
        : { text: "finished" };
    },
    { main: "subagents: [writer]\ntools: [write]", writer: "tools: [write]\naskTools: [write]" },
  );
  const { code, result } = await both(make, ["run", "write it", "--on-ask", "park"]);
  expect(code).toBe(54);
  expect(result).toMatchObject({
    subtype: "parked",
    is_error: true,
    status: "running",
    waiting: [{ tool_name: "write", tool_input: write.input, chain: ["main", "writer"], risk: "medium" }],
  });
  expect(result).not.toHaveProperty("error");
});

test("the schemas name every kind of error", () => {
  const { definitions } = read("result.schema.json") as {
    definitions: Record<string, { properties: object }>;
  };
  expect(definitions.error?.properties).toMatchObject({ type: { enum: [...ERROR_TYPES] } });
});

test("an answer of a given form is in the result as JSON", async () => {
  const make = play(() => ({ text: '["a", "b"]' }), { main: "" });
  const schema = JSON.stringify({ type: "array", items: { type: "string" } });
  const { code, result } = await both(make, ["run", "list", "--json-schema", schema]);
  expect([code, result.structured_output]).toEqual([0, ["a", "b"]]);
});

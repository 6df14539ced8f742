import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { callDelegate, callTool, hang, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const write = (path: string, content: string) => callTool("write", { path, content });

test("a child that claims to be done without its file is told, repairs it and succeeds", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("author", "write the report"), (request) => say(request.last)],
      author: [
        say("The report is finished."),
        (request) => {
          expect(request.last).toContain("report.md");
          return write("workspace:report.md", "# Report");
        },
        say("Now it is there."),
      ],
    },
    { tools: codeTools, agents: { author: { deliverables: [{ file: "report.md" }] } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("deliverables:\n- report.md: ok\n");
  expect(result.details).not.toContain("COMPLIANCE ERROR");
});

test("a child that never leaves its file fails, and the parent's next request and the person see the compliance error", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("author", "write the report"), say("I will tell the person.")],
      author: [say("Finished."), say("Really finished.")],
    },
    { tools: codeTools, agents: { author: { deliverables: [{ file: "expanded_corpus.json" }] } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const request = JSON.stringify(t.models.lead?.requests[1]?.prompt);
  expect(request).toContain(
    "COMPLIANCE ERROR: author did not leave what its contract demands: `expanded_corpus.json`",
  );
  expect(t.trace()).toEqual(["lead > author: failed", "lead: failed"]);
  expect(t.events).toContainEqual(
    expect.objectContaining({
      type: "compliance.failed",
      message: expect.stringContaining("expanded_corpus.json"),
    }),
  );
});

test("a file that was there before and was not touched does not count", async () => {
  await using t = testRuntime(
    { solo: [say("done"), say("done")] },
    { tools: codeTools, agents: { solo: { deliverables: [{ file: "project:out.txt" }] } } },
  );
  writeFileSync(join(t.projectDir, "out.txt"), "old");
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "failed", error: { type: "deliverable" } });
  expect(result.deliverables[0]?.reason).toContain("did not change it");
});

test("a file that was rewritten in place with as many bytes, and given its old time back, counts as changed", async () => {
  const rewrite = defineTool<object>({
    name: "rewrite",
    description: "x",
    input: { type: "object" },
    execute: async (_, { projectDir }) => {
      const path = join(projectDir, "out.txt");
      const { ctimeMs } = statSync(path);
      // The file system counts time in steps of a few milliseconds.
      do {
        writeFileSync(path, "new");
        utimesSync(path, 1_000, 1_000);
      } while (statSync(path).ctimeMs === ctimeMs);
      return "rewritten";
    },
  });
  await using t = testRuntime(
    { solo: [callTool("rewrite", {}), say("done")] },
    { tools: [rewrite], agents: { solo: { deliverables: [{ file: "project:out.txt" }] } } },
  );
  writeFileSync(join(t.projectDir, "out.txt"), "old");
  utimesSync(join(t.projectDir, "out.txt"), 1_000, 1_000);
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "completed", deliverables: [{ ok: true, reason: "present" }] });
});

test("a JSON file must fit its schema, and the verdict says where it does not", async () => {
  const schema = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };
  await using t = testRuntime(
    {
      solo: [
        write("workspace:data.json", '{"total": "three"}'),
        say("done"),
        write("workspace:data.json", '{"total": 3}'),
        say("done"),
      ],
    },
    { tools: codeTools, agents: { solo: { deliverables: [{ file: "data.json", schema }] } } },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "completed", deliverables: [{ ok: true }] });
  expect(JSON.stringify(t.models.solo?.requests[2]?.prompt)).toMatch(/total: the type .*Expected .*integer/);
});

test("a tool that must come after a file is refused until the file is valid", async () => {
  const publish = defineTool<object>({
    name: "publish",
    description: "x",
    input: { type: "object" },
    execute: async () => "published",
  });
  await using t = testRuntime(
    {
      solo: [
        callTool("publish", {}),
        write("workspace:corpus.json", "{}"),
        callTool("publish", {}),
        (request) => say(request.last),
      ],
    },
    {
      tools: [...codeTools, publish],
      agents: { solo: { deliverables: [{ file: "corpus.json", before: ["publish"] }] } },
    },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(JSON.stringify(t.models.solo?.requests[1]?.prompt)).toContain("must wait until `corpus.json`");
  expect(result.summary).toBe("published");
});

test("a command deliverable runs as the child's own shell call and must exit with 0", async () => {
  const commands: string[] = [];
  const shell = defineTool<{ command: string }>({
    name: "shell",
    description: "x",
    groups: ["shell"],
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    access: ({ command }) => [{ kind: "command", command }],
    execute: async ({ command }) => {
      commands.push(command);
      return { text: "1 failed", isError: commands.length === 1 };
    },
  });
  const deliverables = [{ command: "npm test" }];
  await using t = testRuntime(
    { solo: [say("done"), say("mended")] },
    { tools: [shell], agents: { solo: { deliverables } } },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    status: "completed",
    tool_calls_used: 0,
  });
  expect(commands).toEqual(["npm test", "npm test"]);
  await using denied = testRuntime(
    { solo: [say("done"), say("done")] },
    { tools: [shell], agents: { solo: { deliverables, disallowedTools: ["shell"] } } },
  );
  expect(await denied.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ status: "failed" });
  expect(commands).toHaveLength(2);
});

test("an empty answer is asked for once more and is then a failure, never a success", async () => {
  await using t = testRuntime({ solo: [say(""), say("  \n")] });
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    status: "failed",
    success: false,
    error: { type: "bad_response" },
  });
});

test("an empty answer counts against the next one only, not against one after more work", async () => {
  const look = defineTool({
    name: "look",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "seen",
  });
  await using t = testRuntime(
    { solo: [say(""), callTool("look", {}), say(""), say("done")] },
    { tools: [look] },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    status: "completed",
    summary: "done",
  });
});

test("a command deliverable is checked although the run itself was stopped by its time", async () => {
  const commands: string[] = [];
  const shell = defineTool<{ command: string }>({
    name: "shell",
    description: "x",
    groups: ["shell"],
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    access: ({ command }) => [{ kind: "command", command }],
    execute: async ({ command }, { signal }) => {
      signal.throwIfAborted();
      commands.push(command);
      return "0 failed";
    },
  });
  await using t = testRuntime(
    { solo: () => hang() },
    {
      tools: [shell],
      agents: { solo: { deliverables: [{ command: "npm test" }], limits: { minutes: 0.001 } } },
    },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    status: "timeout",
    deliverables: [{ deliverable: "$ npm test", ok: true }],
  });
  expect(commands).toEqual(["npm test"]);
});

test("a delegation may add files to the contract, and files are measured, not claimed", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegate("author", "make it", { deliverables: [{ file: "project:made.txt" }] }),
        (request) => say(request.last),
      ],
      author: [write("made.txt", "x"), write("made.txt", "y"), say("I changed 100 files")],
    },
    { tools: codeTools },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("[measured]\nfiles created: made.txt\n");
  expect(readFileSync(join(t.projectDir, "made.txt"), "utf8")).toBe("y");
});

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import {
  callDelegate,
  callTool,
  callTools,
  say,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { describe, expect, test } from "vitest";
import { builtInRuntime } from "../../../../test/fixtures/built-in-runtime.ts";
import { hasSandbox } from "../../../../test/fixtures/has-sandbox.ts";
import { toolResults } from "../../../../test/fixtures/tool-results.ts";
import { codeTools } from "../code-tools.ts";
import { createShell, shell } from "./shell.ts";

const tools = [...codeTools.filter(({ name }) => name !== "shell"), shell];

/** What an agent with these rights is told of each of its commands, and what is in the project then. */
async function told(
  inputs: readonly Record<string, unknown>[],
  agent: { tools?: readonly string[]; disallowedTools?: readonly string[] } = {},
  options: TestRuntimeOptions = {},
) {
  const results: string[] = [];
  const steps = inputs.map((input) => callTool("shell", input));
  await using t = testRuntime(
    {
      solo: [
        ...steps.map((step, index) => (request: { last: string }) => {
          if (index > 0) results.push(request.last);
          return step;
        }),
        (request) => {
          results.push(request.last);
          return say("done");
        },
      ],
    },
    { tools, agents: { solo: agent }, ...options },
  );
  for (const folder of ["src", "test"]) mkdirSync(join(t.projectDir, folder));
  writeFileSync(join(t.projectDir, ".env"), "canary");
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  const files = readdirSync(t.projectDir, { recursive: true, encoding: "utf8" }).toSorted();
  return { results, files, events: [...t.events], result, projectDir: t.projectDir };
}
const EVERYWHERE = { command: "echo 1 > a; echo 1 > src/a; echo 1 > test/a; true" };
const BEFORE = [".env", "src", "test"];

describe.skipIf(!hasSandbox)("the shell tool (needs bubblewrap)", () => {
  test("a command that git's own files are closed to gets a word on git_commit, if the run holds that", async () => {
    const commands = [
      "git commit -am x",
      "git add -A",
      "git checkout -b new",
      "git config a.b c",
      "git status",
    ];
    const calls = callTools(commands.map((command) => ({ tool: "shell", input: { command } })));
    await using t = await builtInRuntime(
      { "a.txt": "x\n" },
      { main: [calls, callDelegate("tester", "try"), say("done")], tester: [calls, say("done")] },
    );
    await t.runtime.run({ agent: "main", task: "go" });
    const advised = (agent: "main" | "tester") =>
      toolResults(t.models[agent], 1).map((text) => text.includes("note: commands cannot change git's own"));
    expect(advised("main")).toEqual([true, true, true, true, false]);
    expect(advised("tester")).toEqual([false, false, false, false, false]);
    expect(toolResults(t.models.tester, 1)[0]).toContain("Read-only file system");
  });

  test("a result tells the exit code and both outputs, and is an error if the code is not 0", async () => {
    const { results, events } = await told([{ command: "echo out; echo err >&2" }, { command: "exit 4" }]);
    expect(results[0]).toMatch(/^exit code 0\nstdout:\nout\nstderr:\nerr/);
    expect(results[1]).toMatch(/^exit code 4/);
    const outcomes = events.flatMap((event) => (event.type === "call.ended" ? [event.outcome] : []));
    expect(outcomes).toEqual(["ok", "error"]);
  });

  test("a command can write what the run can write: all, only tests, or nothing", async () => {
    expect((await told([EVERYWHERE])).files).toEqual([...BEFORE, "a", "src/a", "test/a"].toSorted());
    const tester = { tools: ["read", "shell", "write(test/**)"] };
    expect((await told([EVERYWHERE], tester)).files).toEqual([...BEFORE, "test/a"].toSorted());
    expect((await told([EVERYWHERE], { tools: ["read", "shell"] })).files).toEqual(BEFORE);
    const barred = { disallowedTools: ["write(src/**)"] };
    expect((await told([EVERYWHERE], barred)).files).toEqual([...BEFORE, "a", "test/a"].toSorted());
  });

  test("a command can be held to less than the run may write, never to more", async () => {
    const narrow = { ...EVERYWHERE, writes: ["src"] };
    expect((await told([narrow])).files).toEqual([...BEFORE, "src/a"].toSorted());
    expect((await told([{ ...EVERYWHERE, writes: [] }])).files).toEqual(BEFORE);
    const tester = { tools: ["read", "shell", "write(test/**)"] };
    expect((await told([{ ...EVERYWHERE, writes: ["src", "."] }], tester)).files).toEqual(
      [...BEFORE, "test/a"].toSorted(),
    );
  });

  test("what the run may not read is not there for its commands", async () => {
    const command = "cat .env; grep -r canary . ; echo end";
    const seen = await told([{ command }]);
    expect(seen.results[0]).toContain("canary");
    const hidden = await told([{ command }], { disallowedTools: ["read(.env)"] });
    expect(hidden.results[0]).toContain("end");
    expect(hidden.results[0]).not.toContain("canary");
  });

  test("an agent that may run only some commands still sees the project", async () => {
    const { results } = await told([{ command: "ls -A" }], { tools: ["shell(ls *)"] });
    expect(results[0]).toContain("src");
  });

  test("limits come from the settings, and an input can only lower the time", async () => {
    const settings = { shell: { ...DEFAULT_SHELL, seconds: 0.4 } };
    const { results } = await told([{ command: "sleep 600", timeoutSeconds: 9_999 }], {}, { settings });
    expect(results[0]).toMatch(/^timed out[\s\S]*stopped after 0\.4 s/);
  });

  test("a person sees the last line of output while a command runs", async () => {
    const { events } = await told([{ command: "echo one; echo two" }]);
    const shown = events.flatMap((event) => (event.type === "call.progressed" ? [event.message] : []));
    expect(shown).toHaveLength(1);
    expect(["one", "two"]).toContain(shown[0]);
  });

  test("a deliverable command is the run's own shell call, in the same sandbox", async () => {
    const agents = { solo: { deliverables: [{ command: "test -f made && ! test -e /root/.bashrc" }] } };
    await using t = testRuntime(
      { solo: [say("done"), callTool("shell", { command: "touch made" }), say("now")] },
      { tools, agents },
    );
    const result = await t.runtime.run({ agent: "solo", task: "go" });
    expect(result).toMatchObject({
      status: "completed",
      deliverables: [{ ok: true, reason: "exited with 0" }],
    });
    expect(existsSync(join(t.projectDir, "made"))).toBe(true);
  });

  test("stopping the run stops the command", async () => {
    await using t = testRuntime(
      { solo: [callTool("shell", { command: "echo begun; sleep 600" })] },
      { tools, lenient: true },
    );
    t.runtime.events((event) => {
      if (event.type === "call.progressed") t.runtime.cancel(event.sessionId);
    });
    expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ status: "cancelled" });
  });
});

test("a working folder outside the project is an error, also through a link", async () => {
  const { results } = await told([{ command: "ls", cwd: "/etc" }]);
  expect(results[0]).toContain("cwd is outside the project and the workspace");
});

test("agent files and settings are no place to write, and the rule is named", async () => {
  const { results } = await told([{ command: "true", writes: [".claude"] }]);
  expect(results[0]).toMatch(/permission denied.*\.claude/);
});

test("with the network on, a command is of high risk and acts outside", () => {
  expect([shell.risk, shell.outbound]).toEqual(["medium", false]);
  const open = createShell({ ...DEFAULT_SHELL, network: true });
  expect([open.risk, open.outbound]).toEqual(["high", true]);
});

test("without a sandbox that is required, the model is told why and how to get it", async () => {
  const required = createShell({ ...DEFAULT_SHELL, sandbox: "required" }, { bubblewrap: null });
  const { withSettings: _, ...fixed } = required;
  const { results, files } = await told([{ command: "touch made" }], {}, { tools: [fixed] });
  expect(results[0]).toMatch(/not run: commands need the sandbox.*apt install bubblewrap/);
  expect(files).toEqual(BEFORE);
});

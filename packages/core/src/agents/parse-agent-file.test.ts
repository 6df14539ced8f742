import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentFormat } from "../schema/agent.ts";
import { parseAgentFile } from "./parse-agent-file.ts";

const known = {
  tools: new Set("read write edit shell grep glob ls web_search web_fetch todo delegate git_diff".split(" ")),
  groups: new Set(["web", "git"]),
};

function parse(text: string, format: AgentFormat = "native", file = "/p/.retinue/agents/helper.md") {
  return parseAgentFile(text, { file, format, scope: "project", known });
}

async function usable(text: string, format: AgentFormat = "native") {
  const { agent, problems } = await parse(text, format);
  if (agent === undefined) throw new Error(`not usable: ${JSON.stringify(problems)}`);
  return { agent, problems };
}

function codes(problems: readonly { severity: string; code: string; line: number }[]): string[] {
  return problems.map(({ severity, code, line }) => `${severity} ${code} ${line}`);
}

const withFields = (yaml: string, body = "Text.") => `---\nname: x\ndescription: d\n${yaml}\n---\n${body}\n`;

describe("a well-formed file", () => {
  test("a description alone gives every default", async () => {
    const { agent, problems } = await usable("---\ndescription: Helps.\n---\nYou help.\n");
    expect(problems).toEqual([]);
    expect(agent).toEqual({
      name: "helper",
      displayName: "helper",
      aliases: [],
      description: "Helps.",
      prompt: "You help.",
      model: "inherit",
      askTools: [],
      disallowedTools: [],
      context: "task_only",
      limits: {},
      retry: { attempts: 1, on: ["network", "rate_limit"], backoffMs: 1000 },
      deliverables: [],
      workspace: "shared",
      flow: "loop",
      display: {},
      enabled: true,
      source: { format: "native", scope: "project", file: "/p/.retinue/agents/helper.md" },
      extra: {},
    });
  });

  test("snake_case and camelCase keys mean the same", async () => {
    const snake = await usable(
      withFields("ask_tools: [shell]\nsubagents: {allow: [b], max_concurrent: 3}\nlimits: {tool_calls: 4}"),
    );
    const camel = await usable(
      withFields("askTools: [shell]\nsubagents: {allow: [b], maxConcurrent: 3}\nlimits: {toolCalls: 4}"),
    );
    expect(snake.agent).toEqual(camel.agent);
    expect(snake.agent.subagents?.maxConcurrent).toBe(3);
  });

  test("the name becomes a slug and stays as the display name", async () => {
    const { agent } = await usable("---\nname: API Architect (Café)\ndescription: d\n---\nText.");
    expect([agent.name, agent.displayName]).toEqual(["api-architect-cafe", "API Architect (Café)"]);
  });

  test("a name of other scripts falls back to the file's name instead of a look-alike", async () => {
    const { agent } = await usable("---\nname: сoder\nid: сс\ndescription: d\n---\nText.");
    expect(agent.name).toBe("helper");
  });

  test("a byte order mark and carriage returns do not matter", async () => {
    const plain = await usable(withFields("tools: [read]", "One\n\nTwo"));
    const marked = await usable(
      `\uFEFF${withFields("tools: [read]", "One\n\nTwo").replaceAll("\n", "\r\n")}`,
    );
    const old = await usable(withFields("tools: [read]", "One\n\nTwo").replaceAll("\n", "\r"));
    expect(marked.agent).toEqual(plain.agent);
    expect(old.agent).toEqual(plain.agent);
  });

  test("unknown keys are kept and reported with the key that was meant", async () => {
    const { agent, problems } = await usable(withFields("modell: fast\nteam: blue"));
    expect(agent.extra).toEqual({ modell: "fast", team: "blue" });
    expect(codes(problems)).toEqual(["info unknown-key 4", "info unknown-key 5"]);
    expect(problems[0]?.message).toContain("did you mean 'model'?");
  });

  test("an unknown key that sounds like rights is a warning", async () => {
    const { problems } = await usable(withFields("deniedTools: [shell]"));
    expect(codes(problems)).toEqual(["warning unknown-key 4"]);
  });
});

describe("bad values fall back to the safe side and are reported with their line", () => {
  test.each([
    ["limits:\n  turns: -1", "limits.turns", 5],
    ["limits: {turns: .nan}", "limits.turns", 4],
    ["limits: {minutes: abc}", "limits.minutes", 4],
    ["limits: {turns: 1.5}", "limits.turns", 4],
    ["limits: {costUsd: .inf}", "limits.costUsd", 4],
    ['limits: {toolCalls: "5"}', "limits.toolCalls", 4],
    ["limits: {tokens: 1e308}", "limits.tokens", 4],
    ["limits: {perTool: {read: -1}}", "limits.perTool.read", 4],
    ["limits: 5", "limits", 4],
    ["limits:\n  tokens:", "limits.tokens", 5],
    ["limits: {costUsd: null}", "limits.costUsd", 4],
    ["limits: {perTool: null}", "limits.perTool", 4],
    ["maxOutputTokens: -1", "maxOutputTokens", 4],
    ["maxOutputTokens: 0", "maxOutputTokens", 4],
    ["maxOutputTokens: 1.5", "maxOutputTokens", 4],
    ['maxOutputTokens: "5"', "maxOutputTokens", 4],
    ["maxOutputTokens: .inf", "maxOutputTokens", 4],
    ["maxOutputTokens:", "maxOutputTokens", 4],
    ["maxTurns: 0", "maxTurns", 4],
    ["maxTurns: -1", "maxTurns", 4],
    ['maxTurns: "5"', "maxTurns", 4],
    ["maxTurns:", "maxTurns", 4],
    ["max_turns: 1.5", "maxTurns", 4],
    ["steps: -3", "steps", 4],
    ["maxSteps: abc", "maxSteps", 4],
    ["maxTurns: 5\nsteps: -3", "steps", 5],
    ["timeout_mins: 0", "timeoutMins", 4],
    ["subagents: {allow: [a], maxConcurrent: -2}", "subagents.maxConcurrent", 4],
    ["retry: -1", "retry.attempts", 4],
    ["retry: {attempts: 1e9}", "retry.attempts", 4],
    ["retry: {backoffMs: -5}", "retry.backoffMs", 4],
    ["retry: never", "retry", 4],
    ["retry: {on: [nothing]}", "retry.on", 4],
  ])("%s makes the agent unusable, since it would have more than was meant", async (yaml, key, line) => {
    const { agent, problems } = await parse(withFields(yaml));
    expect(agent).toBeUndefined();
    expect(problems[0]).toMatchObject({ severity: "error", code: "bad-value", line });
    expect(problems[0]?.message).toContain(`${key} is `);
  });

  test.each([
    ["limits: {max_turns: 5}", "limits.max_turns is not a known key", "turns"],
    ["limits: {toolCals: 5}", "limits.toolCals is not a known key", "toolCalls"],
    ["limits: {budget: 5}", "limits.budget is not a known key", undefined],
    ["limits: {turns: 5, Turns: 500}", "limits.Turns is another spelling of turns", undefined],
    ["subagents: {allow: [a], denies: [b]}", "subagents.denies is not a known key", undefined],
    ["retry: {attempt: 0}", "retry.attempt is not a known key", "attempts"],
    ["limits: {perTool: {gerp: 2}}", 'names the unknown tool "gerp"', "grep"],
    ["limits: {perTool: {web: 2}}", 'names the unknown tool "web"', undefined],
    ["limits: {perTool: {'*': 2}}", 'names the unknown tool "*"', undefined],
    ["limits: {perTool: {'shell(npm *)': 2}}", 'names the unknown tool "shell(npm *)"', undefined],
    ["limits: {perTool: {constructor: 2}}", 'names the unknown tool "constructor"', undefined],
  ])("%s would not hold, so the agent cannot be used", async (yaml, message, nearest) => {
    const { agent, problems } = await parse(withFields(yaml));
    expect(agent).toBeUndefined();
    expect(problems).toMatchObject([
      { severity: "error", line: 4, message: expect.stringContaining(message) },
    ]);
    if (nearest !== undefined) expect(problems[0]?.message).toContain(`did you mean '${nearest}'?`);
  });

  test("limits by tool understand vendors' names; of two spellings the lower limit holds", async () => {
    const { agent, problems } = await usable(
      withFields("limits: {perTool: {Grep: 3, search: 2, Bash: 4, Task: 1, editFiles: 5, Skill: 9}}"),
    );
    expect(agent.limits.perTool).toEqual({ grep: 2, shell: 4, delegate: 1, edit: 5, write: 5 });
    expect(codes(problems)).toEqual(["info tool-elsewhere 4"]);
  });

  test("of two keys for the number of turns the lower one holds", async () => {
    for (const fields of ["maxTurns: 5\nsteps: 9", "maxTurns: 9\nsteps: 5"])
      expect((await usable(withFields(fields), "claude")).agent.limits).toEqual({ turns: 5 });
  });

  test("a number of turns in quotes is read where Claude Code reads it", async () => {
    expect((await usable(withFields('maxTurns: "5"'), "claude")).agent.limits).toEqual({ turns: 5 });
    expect((await parse(withFields('maxTurns: "5x"'), "claude")).agent).toBeUndefined();
    expect((await parse(withFields('steps: "5"'), "opencode")).agent).toBeUndefined();
  });

  test("a way of execution that nobody knows is the one that does least at once", async () => {
    const { agent } = await usable(withFields("subagents: {allow: [a], execution: sequentiel}"));
    expect(agent.subagents?.execution).toBe("sequential");
  });

  test("a bad model inherits, a bad switch disables, a bad workspace isolates, a bad context is task_only", async () => {
    const { agent, problems } = await usable(
      withFields("model: 5\nenabled: maybe\nworkspace: isolatd\ncontext: everything"),
    );
    expect(agent).toMatchObject({
      model: "inherit",
      enabled: false,
      workspace: "isolated",
      context: "task_only",
    });
    expect(codes(problems).sort()).toEqual([4, 5, 6, 7].map((line) => `warning bad-value ${line}`));
  });

  test.each(["tools: 5", "tools:", "tools: [read, {shell: 1}]"])("'%s' gives no tools", async (yaml) => {
    const { agent } = await usable(withFields(yaml));
    expect(agent.tools).toEqual([]);
  });

  test.each([
    ["disallowedTools: {a: b}", "bad-value"],
    ["disallowedTools: [shel]", "unknown-denied-tool"],
    ["askTools: [shel]", "unknown-ask-tool"],
    ["permission: {bash: sometimes}", "bad-value"],
    ["deliverables: [{file: ../../etc/passwd}]", "bad-value"],
    ["kind: remote", "remote-agent"],
    ["disallowedTools: [shell]\ndisallowed_tools: [edit]", "duplicate-key"],
  ])("%s makes the agent unusable", async (yaml, code) => {
    const { agent, problems } = await parse(withFields(yaml));
    expect(agent).toBeUndefined();
    expect(problems.find((problem) => problem.severity === "error")?.code).toBe(code);
  });

  test("a bad subagents value leaves an agent that works alone", async () => {
    for (const yaml of ["subagents: 5", "subagents: {allow: 5}", "subagents: {allow: [a], deny: {b: 1}}"]) {
      expect((await usable(withFields(yaml))).agent.subagents).toBeUndefined();
    }
  });

  test("a missing description is an error with a fix", async () => {
    const { agent, name, problems } = await parse("---\nname: nameless one\n---\nText.");
    expect(agent).toBeUndefined();
    expect(name).toBe("nameless-one");
    expect(problems[0]).toMatchObject({ severity: "error", code: "missing-description" });
  });

  test("escape codes in texts and problems never reach a terminal", async () => {
    const { agent, problems } = await usable(
      '---\nname: "a\\e[2Jb"\ndescription: "x\\e]0;t\\a\\u202Ey"\n"k\\e[31m": 1\n---\nText.',
    );
    expect(`${agent.displayName}${agent.description}`).toBe("a[2Jbx]0;ty");
    expect(problems.map((problem) => problem.message).join()).not.toContain("\u001b");
  });
});

describe("broken YAML", () => {
  test.each([
    ["Use when: tests fail", "Use when: tests fail"],
    ["@here reviews", "@here reviews"],
    ["*bold* claims", "*bold* claims"],
    ["`npm` runner", "`npm` runner"],
    ["'it's quoted'", "it's quoted"],
    ['"say "hi" now"', 'say "hi" now'],
    ["[WIP] does things", "[WIP] does things"],
    ["%percent", "%percent"],
    ["x\\n\\nExamples: y", "x\\n\\nExamples: y"],
  ])("the description %s is rescued and reported", async (written, read) => {
    const { agent, problems } = await usable(
      `---\nname: x\ndescription: ${written}\ntools: Read\n---\nText.`,
    );
    expect(agent.description).toBe(read);
    expect(agent.tools).toEqual(["read"]);
    expect(codes(problems)).toEqual(["warning repaired-yaml 3"]);
    expect(problems[0]?.fix).toMatch(/^write description: ["']/);
  });

  test("a dialogue over several lines stays in the description", async () => {
    const text =
      '---\nname: x\ndescription: Use it: now\nContext: login\nuser: "Hi"\n  assistant: done\nmodel: fast\n---\nText.';
    const { agent } = await usable(text);
    expect(agent.description).toBe('Use it: now\nContext: login\nuser: "Hi"\n  assistant: done');
    expect(agent.model).toBe("fast");
  });

  test("other keys of a repaired file keep their meaning, known or not", async () => {
    const { agent, problems } = await usable(
      "---\ndescription: a: b\nlimits:\n  turns: 3\nteam: blue\ndisallowdTools: [shell]\n---\nText.",
    );
    expect(agent.limits).toEqual({ turns: 3 });
    expect(agent.extra).toEqual({ team: "blue", disallowdTools: ["shell"] });
    expect(problems.some((problem) => problem.message.includes("did you mean 'disallowedTools'"))).toBe(true);
  });

  test("an unquoted star and a list item with a star are rescued", async () => {
    expect((await usable(withFields("tools: *"))).agent.tools).toBeUndefined();
    expect((await usable(withFields("disallowedTools:\n  - Bash\n  - *"))).agent.disallowedTools).toEqual([
      "shell",
      "*",
    ]);
  });

  test("tabs that indent become spaces", async () => {
    const { agent, problems } = await usable(withFields("limits:\n\tturns: 7"));
    expect(agent.limits.turns).toBe(7);
    expect(problems[0]?.message).toContain("tabs cannot indent");
  });

  test("a broken block of rights or limits is never guessed", async () => {
    for (const yaml of [
      "disallowedTools: [shell",
      "limits:\n  turns: 5\n minutes: 3",
      "permission:\n  bash: {a",
    ]) {
      const { agent, problems } = await parse(withFields(yaml));
      expect(agent).toBeUndefined();
      expect(problems[0]).toMatchObject({ severity: "error", code: "bad-yaml" });
    }
  });

  test("a rights key is never taken for text of a broken description above it", async () => {
    for (const line of [
      '"disallowedTools": [shell]',
      "disallowedTools : [shell]",
      "Disallowed-Tools: [shell]",
    ]) {
      const { agent } = await usable(`---\ndescription: a: b\n${line}\n---\nText.`);
      expect(agent.disallowedTools).toEqual(["shell"]);
    }
    expect(
      (await parse("---\ndescription: a: b\ndisallowedTools:[shell]\n---\nText.")).agent,
    ).toBeUndefined();
  });

  test("a repeated rights key in a repaired file is an error too", async () => {
    const { agent } = await parse(
      "---\ndescription: a: b\ndisallowedTools: [shell]\ndisallowedTools: [edit]\n---\nText.",
    );
    expect(agent).toBeUndefined();
  });

  test("a description cut by a comment is pointed out", async () => {
    const { problems } = await usable("---\nname: x\ndescription: Fixes issue #12\n---\nText.");
    expect(codes(problems)).toEqual(["info comment-in-text 3"]);
  });
});

describe("no or foreign frontmatter", () => {
  test("a text that explains itself is an agent, with a warning", async () => {
    const { agent, problems } = await usable("# Planner\n\nYou plan work.\n\nMore.");
    expect(agent).toMatchObject({ name: "helper", description: "You plan work." });
    expect(agent.prompt).toContain("# Planner");
    expect(codes(problems)).toEqual(["warning no-frontmatter 1"]);
  });

  test.each([
    ["README.md", "# Agents\n\nThese are ours."],
    ["README.md", "---\ntitle: Agents\n---\nThese are ours."],
    ["helper.md", "| a | b |\n|---|---|"],
    ["helper.md", ""],
  ])("%s with %j is no agent and no error", async (name, text) => {
    const { agent, problems } = await parse(text, "claude", `/p/.claude/agents/${name}`);
    expect(agent).toBeUndefined();
    expect(codes(problems)).toEqual(["info not-an-agent 1"]);
  });

  test("frontmatter in a programming language is refused and never executed", async () => {
    const { agent, problems } = await parse('---js\n{ name: (globalThis.__hit = true, "x") }\n---\nText.');
    expect(agent).toBeUndefined();
    expect(codes(problems)).toEqual(["error foreign-frontmatter 1"]);
    expect("__hit" in globalThis).toBe(false);
  });

  test("frontmatter without an end names the line where it belongs", async () => {
    const { problems } = await parse("---\nname: x\ndescription: d\n\nText.");
    expect(problems[0]).toMatchObject({
      code: "unclosed-frontmatter",
      fix: "add a line with --- after line 3",
    });
  });
});

describe("hostile input", () => {
  test("an alias bomb ends as an error", async () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`,
    );
    const { agent, problems } = await parse(withFields(`l0: &l0 [x, x, x]\n${levels.join("\n")}`));
    expect(agent).toBeUndefined();
    expect(problems[0]?.code).toBe("bad-yaml");
  });

  test("an alias to its own anchor ends as an error", async () => {
    expect((await parse(withFields("a: &a [*a]"))).agent).toBeUndefined();
  });

  test("deep nesting ends as an error", async () => {
    for (const depth of [100, 30_000]) {
      const { agent, problems } = await parse(withFields(`a: ${"[".repeat(depth)}${"]".repeat(depth)}`));
      expect(agent).toBeUndefined();
      expect(problems[0]?.code).toBe("bad-yaml");
    }
  });

  test("__proto__ pollutes nothing and is dropped", async () => {
    const { agent, problems } = await usable(
      withFields("__proto__: {polluted: true}\nlimits: {__proto__: {turns: 9}, tokens: 5}"),
    );
    expect("polluted" in {}).toBe(false);
    expect("polluted" in agent.extra || "turns" in agent.limits).toBe(false);
    expect(agent.limits).toEqual({ tokens: 5 });
    expect(problems.map((problem) => problem.code)).toEqual(["unsafe-key", "unsafe-key"]);
  });

  test("custom tags are refused, not resolved", async () => {
    expect((await parse(withFields("tools: !!js/function 'x'"))).agent?.tools ?? []).toEqual([]);
    expect((await parse(withFields("limits: !include /etc/passwd"))).agent).toBeUndefined();
  });

  test("100,000 lines of text are a prompt, of frontmatter an error", async () => {
    const lines = "line\n".repeat(100_000);
    expect((await usable(withFields("", lines))).agent.prompt).toHaveLength(499_999);
    expect((await parse(withFields("a: b\n".repeat(100_000)))).agent).toBeUndefined();
  });

  test("no text makes it throw, and a usable agent always has a name and a description", async () => {
    const key = fc.constantFrom(
      "name",
      "description",
      "tools",
      "disallowedTools",
      "limits",
      "subagents",
      "permission",
    );
    const line = fc.oneof(
      fc.string(),
      fc.tuple(key, fc.string()).map(([k, v]) => `${k}: ${v}`),
      fc.constant("---"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        const { agent } = await parse(["---", ...lines].join("\n"));
        if (agent === undefined) return;
        expect(agent.name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
        expect(agent.description).not.toBe("");
      }),
      { numRuns: 500 },
    );
  });
});

import { expect, test } from "vitest";
import type { AgentFormat } from "../../schema/agent.ts";
import type { AgentFormChange } from "../../schema/api/agent.ts";
import { editAgentFile } from "./edit-agent-file.ts";

const known = {
  tools: new Set(
    "read write edit ls glob grep shell web_search web_fetch todo delegate delegate_many collect_results".split(
      " ",
    ),
  ),
};

type Case = [title: string, format: AgentFormat, yaml: string, change: AgentFormChange, expected: string];

const policy = { deny: [], execution: "parallel", maxConcurrent: 5, recursive: false } as const;

const cases: Case[] = [
  [
    "Claude's line of tools stays a line, in Claude's names",
    "claude",
    "name: a\ndescription: b\ntools: Read, Grep # few\n",
    { tools: ["read", "shell(npm test *)"] },
    "name: a\ndescription: b\ntools: Read, Bash(npm test *) # few\n",
  ],
  [
    "whom a Claude agent calls is said by Agent(…) among its tools, under the name that is there",
    "claude",
    "name: a\ndescription: b\ntools: Task(x, y), Read\n",
    { subagents: { ...policy, allow: ["y", "z"] } },
    "name: a\ndescription: b\ntools: Task(y, z), Read\n",
  ],
  [
    "a Claude agent with a list of tools gets Agent(…) among them",
    "claude",
    "name: a\ndescription: b\ntools:\n  - Read # r\n",
    { subagents: { ...policy, allow: ["x"] } },
    "name: a\ndescription: b\ntools:\n  - Read # r\n  - Agent(x)\n",
  ],
  [
    "the key for turns is the one of the file's program",
    "claude",
    "name: a\ndescription: b\nmaxTurns: 5\n",
    { limits: { turns: 9 } },
    "name: a\ndescription: b\nmaxTurns: 9\n",
  ],
  [
    "a new key is spelled as its neighbours are",
    "native",
    "name: a\ndescription: b\nask_tools: [shell]\n",
    { disallowedTools: ["write"] },
    "name: a\ndescription: b\nask_tools: [shell]\ndisallowed_tools: [write]\n",
  ],
  [
    "entries that stay keep their comments and quotes",
    "native",
    "name: a\ndescription: b\ntools:\n  # looks\n  - read # one\n  - 'grep' # two\n  - glob # three\nmodel: fast\n",
    { tools: ["read", "glob", "ls"] },
    "name: a\ndescription: b\ntools:\n  # looks\n  - read # one\n  - glob # three\n  - ls\nmodel: fast\n",
  ],
  [
    "a list over several lines in brackets keeps its comments",
    "native",
    "name: a\ndescription: b\ntools: [\n  read, # one\n  grep, # two\n  glob # three\n]\n",
    { tools: ["read", "glob", "ls"] },
    "name: a\ndescription: b\ntools:\n  [\n    read, # one\n    glob, # three\n    ls\n  ]\n",
  ],
  [
    "opencode's switches stay a map",
    "opencode",
    "description: b\ntools:\n  write: false # safe\n  webfetch: false\n",
    { disallowedTools: ["edit", "write", "shell"] },
    "description: b\ntools:\n  write: false # safe\n  bash: false\n",
  ],
  [
    "opencode's permission keeps its patterns and gets another",
    "opencode",
    'description: b\npermission:\n  bash:\n    "*": ask\n    "git push *": deny # never\n',
    { disallowedTools: ["shell(git push *)", "shell(rm *)", "web_fetch"] },
    'description: b\npermission:\n  bash:\n    "*": ask\n    "git push *": deny # never\n    "rm *": deny\n  webfetch: deny\n',
  ],
  [
    "opencode's permission for one list of tools takes further tools and keeps whom it delegates to",
    "opencode",
    'description: b\npermission:\n  "*": deny\n  read: allow\n  task: { "*": deny, x: allow }\n',
    { tools: ["read", "grep"] },
    'description: b\npermission:\n  "*": deny\n  read: allow\n  task: { "*": deny, x: allow }\n  grep: allow\n',
  ],
  [
    "one word for everything in opencode becomes a map when more is said",
    "opencode",
    "description: b\npermission: ask\n",
    { disallowedTools: ["shell"] },
    'description: b\npermission: {"*": ask, bash: deny}\n',
  ],
  [
    "of Copilot's models the first is replaced",
    "copilot",
    "description: b\nmodel: ['gpt-5', 'gpt-4']\n",
    { model: "fast" },
    "description: b\nmodel: ['fast', 'gpt-4']\n",
  ],
  [
    "a list of sub-agents becomes a map when more than names is said",
    "native",
    "name: a\ndescription: b\nsubagents:\n  - x # first\n  - y\n",
    { subagents: { ...policy, allow: ["x", "y"], recursive: true } },
    "name: a\ndescription: b\nsubagents:\n  allow:\n    - x # first\n    - y\n  recursive: true\n",
  ],
  [
    "a field that is taken out goes with its lines, and the comment above it stays",
    "native",
    "name: a\n# why\nlimits:\n  turns: 5\n  # inner\n# below\ndescription: b\n",
    { limits: null },
    "name: a\n# why\n# below\ndescription: b\n",
  ],
  [
    "a label that people read stays when the agent is addressed by another name",
    "native",
    "name: Code Reviewer\ndescription: b\n",
    { name: "critic" },
    "name: Code Reviewer\nid: critic\ndescription: b\n",
  ],
  [
    "an emptied description stays a key, so that it can be filled again",
    "native",
    "name: a\ndescription: b\n",
    { description: "" },
    'name: a\ndescription: ""\n',
  ],
];

test.each(cases)("%s", async (_title, format, yaml, change, expected) => {
  const edited = await editAgentFile(`---\n${yaml}---\nDo it.\n`, change, { format, known });
  expect(edited).toBe(`---\n${expected}---\nDo it.\n`);
});

test("line ends, byte order mark and the lines around the prompt stay", async () => {
  const text = "\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\n\r\nOld\r\n\r\n";
  const edited = await editAgentFile(
    text,
    { prompt: "New\ntext", tools: ["read"] },
    { format: "native", known },
  );
  expect(edited).toBe(
    "\uFEFF---\r\nname: a\r\ndescription: b\r\ntools: [read]\r\n---\r\n\r\nNew\r\ntext\r\n\r\n",
  );
});

test("a file that YAML refuses is repaired first, and only the changed key differs from the repair", async () => {
  const text = "---\nname: a\ndescription: Does two things: this and that\nextra: kept\n---\nDo it.\n";
  const edited = await editAgentFile(text, { model: "fast" }, { format: "claude", known });
  expect(edited).toBe(
    '---\nname: a\ndescription: "Does two things: this and that"\nmodel: fast\nextra: kept\n---\nDo it.\n',
  );
});

test("a text without frontmatter gets one that says what was taken from the text", async () => {
  const edited = await editAgentFile(
    "You help.\n",
    { model: "fast" },
    { format: "claude", name: "helper", known },
  );
  expect(edited).toBe('---\ndescription: "You help."\nmodel: fast\n---\nYou help.\n');
});

test("a new agent is written from nothing", async () => {
  const change = { name: "fresh", description: "Is new.", tools: ["read"], prompt: "Be new." };
  const edited = await editAgentFile("", change, { format: "native", known });
  expect(edited).toBe("---\nname: fresh\ndescription: Is new.\ntools: [read]\n---\nBe new.\n");
});

test.each<[string, AgentFormat, string, AgentFormChange, RegExp]>([
  [
    "a key that Gemini would refuse",
    "gemini",
    "name: a\ndescription: b\n",
    { grants: ["read"] },
    /Gemini CLI refuses/,
  ],
  [
    "a right that opencode cannot tell apart",
    "opencode",
    "description: b\n",
    { disallowedTools: ["write"] },
    /means edit and write/,
  ],
  [
    "a tool that there is not",
    "native",
    "name: a\ndescription: b\n",
    { disallowedTools: ["shel"] },
    /no such tool.*shell/,
  ],
  [
    "a right that another key takes away",
    "claude",
    "name: a\ndescription: b\npermissionMode: plan\n",
    { disallowedTools: ["web_fetch"] },
    /read back, it would be/,
  ],
  [
    "a value that other keys share",
    "native",
    "name: a\ndescription: b\ntools: &t [read]\ngrants: *t\n",
    { tools: ["grep"] },
    /grants would change|alias|anchor/i,
  ],
  [
    "a number that is none",
    "native",
    "name: a\ndescription: b\n",
    { limits: { turns: -1 } },
    /limits cannot be written/,
  ],
])("%s is refused with a way out", async (_title, format, yaml, change, message) => {
  const edited = editAgentFile(`---\n${yaml}---\nDo it.\n`, change, { format, known });
  await expect(edited).rejects.toThrow(message);
  await expect(edited).rejects.toMatchObject({ code: "input", hint: expect.stringContaining("raw text") });
});

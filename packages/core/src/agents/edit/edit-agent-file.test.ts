import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Agent, AgentFormat } from "../../schema/agent.ts";
import type { SimpleFormFields } from "../../schema/agent-fields.ts";
import type { AgentForm, AgentFormChange } from "../../schema/api/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { type FormValue, findFormDefault, listFormFields } from "../../schema/form-fields.ts";
import { parseAgentFile } from "../parse-agent-file.ts";
import { fixAgentFile } from "../yaml/repair-yaml.ts";
import { splitFrontmatter } from "../yaml/split-frontmatter.ts";
import { isSameValue, toForm } from "./check-edit.ts";
import { editAgentFile } from "./edit-agent-file.ts";

type Sample = { name: string; format: AgentFormat; text: string };

const FIXTURES = fileURLToPath(new URL("../../../../../test/fixtures/agents", import.meta.url));
const BUILTIN = fileURLToPath(new URL("../../../../../agents", import.meta.url));
const known = {
  tools: new Set(
    "read write edit ls glob grep shell test git git_diff todo web_search web_fetch gmail_send_email delegate delegate_many collect_results".split(
      " ",
    ),
  ),
  groups: new Set(["filesystem", "web", "git", "email"]),
};

function guessFormat(path: string): AgentFormat {
  const found = (["claude", "opencode", "gemini"] as const).find((each) => path.includes(each));
  return found ?? (path.includes(".github") ? "copilot" : "native");
}

function files(root: string): Sample[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({
      name: path,
      format: guessFormat(path),
      text: readFileSync(join(root, path), "utf8"),
    }));
}

const made: Sample[] = [
  {
    name: "made/claude-commented.md",
    format: "claude",
    text: "---\r\n# Für Übersetzer 🎌\r\nname: 'übersetzer'   # the name\r\nid: translator\r\ndescription: >-\r\n  Translates\r\n  texts.\r\ntools: Read, Agent(helper, scout), Bash(git log:*)  # few\r\nallowed-agents: keep me\r\npermissionMode: plan\r\nmodel: inherit\r\nmcpServers:\r\n  - github\r\n---\r\n\r\n  Übersetze.\r\n\r\n\r\n",
  },
  {
    name: "made/claude-lists.md",
    format: "claude",
    text: '---\nname: lists\ndescription: |\n  Two lines\n  # no comment\n\ntools:\n  # reading\n  - Read # r\n  - "Grep" # g\n  # acting\n  - Task\ndisallowed_tools:\n- WebFetch\n- Write\nhooks: { a: [1, 2] }\n# the end\n---\nDo it.',
  },
  {
    name: "made/native-flow.md",
    format: "native",
    text: "\uFEFF---\nname: flow # own\ndescription: \"Quoted: yes\"\ntools: [\n  read, # one\n  'grep',\n  # about glob\n  glob\n]\nask_tools: [ shell(npm test *) ]\nsubagents: [helper, scout] # short\nlimits: { turns: 5, per_tool: {grep: 2} }\nx-note: &note { deep: [1, {two: 2}] }\ny-note: *note\ndisplay:\n  colour: blue # sea\n  icon: 🌊\n---\nBody with --- inside\n---\nand more\n",
  },
  {
    name: "made/native-whole-flow.md",
    format: "native",
    text: "---\n{name: whole, description: All in braces, tools: [read], enabled: false}\n---\nText\n",
  },
  {
    name: "made/native-policy.md",
    format: "native",
    text: "---\nname: policy\ndescription: Leads.\nsubagents:\n  # team\n  allow:\n    - helper # h\n    - scout\n  deny: [mole]\n  max_concurrent: 2\ndelegation: { mandatory: true, triggers: [report] }\nretry: 2\n---\nLead.\n",
  },
  {
    name: "made/opencode-maps.md",
    format: "opencode",
    text: '---\ndescription: Maps\nmode: subagent\ntools:\n  "*": false\n  read: true # may\n  grep: true\npermission:\n  bash: ask # careful\n  webfetch: deny\nprompt: You map.\noptions: { a: 1 }\n---\n',
  },
  {
    name: "made/opencode-only-listed.md",
    format: "opencode",
    text: '---\ndescription: Only\npermission:\n  "*": deny\n  read: allow\n  task: { "*": deny, helper: allow }\nmaxSteps: 4\ncolor: "#ff0000"\n---\nOnly.\n',
  },
  {
    name: "made/copilot.agent.md",
    format: "copilot",
    text: "---\ndescription: 'Plans'\ntools: ['search', 'edit', 'github/*', 'usages']\nmodel: ['gpt-5', 'gpt-4']\nuser-invocable: true\nagents: ['helper']\n---\nPlan.\n",
  },
  {
    name: "made/gemini.md",
    format: "gemini",
    text: "---\nname: gem\ndisplay_name: Gem\ndescription: Finds.\nkind: local\ntools:\n    - read_file\n    - mcp_docs_query\nmax_turns: 3\n---\nFind.\n",
  },
  { name: "made/plain.md", format: "claude", text: "# Helper\r\n\r\nYou help with everything.\r\n" },
];

const samples = [...files(FIXTURES), ...files(BUILTIN), ...made].filter(
  ({ name }) =>
    !/unclosed|scripted|beyond-repair|roles|README|notes\.md/.test(name) &&
    !/^(assistant|calendar|contacts|slack|researcher|planner|debugger|report|tester)/.test(name),
);

/** Values of the fields that are more than a number, a word or a flag. */
const OWN_VALUES: {
  [Field in Exclude<keyof AgentForm, keyof SimpleFormFields>]: AgentForm[Field][];
} = {
  name: ["renamed-one"],
  displayName: ["A: Name #1", "Schöner Name"],
  description: ["Short.", "With: colon, # mark and 'quotes' \"both\"", "Two\nlines 🎉"],
  model: ["fast", "anthropic/claude-x", "inherit"],
  aliases: [["one", "two"], []],
  tools: [null, [], ["read"], ["read", "grep", "shell(npm test *)"], ["edit", "write", "read", "web_search"]],
  askTools: [[], ["shell"], ["web_fetch(*.example.org)", "shell(git push *)"]],
  disallowedTools: [[], ["edit", "write"], ["shell(rm *)", "web_fetch"]],
  grants: [null, [], ["*"], ["read", "grep"]],
  subagents: [
    null,
    { allow: ["helper"], deny: [], execution: "parallel", maxConcurrent: 5, recursive: false },
    { allow: ["*"], deny: [], execution: "parallel", maxConcurrent: 5, recursive: false },
    {
      allow: ["helper", "new-one"],
      deny: ["mole"],
      execution: "sequential",
      maxConcurrent: 3,
      recursive: true,
    },
  ],
  limits: [{}, { turns: 7 }, { turns: 9, minutes: 2.5, perTool: { read: 3 }, costUsd: 0.25 }],
  icon: [null, "🧪"],
  color: [null, "#00ff00"],
  prompt: ["New prompt.\n\n---\nwith a rule", "Ünï 🎌"],
};
/** A number, a word or a flag by its kind in the table. */
function listSimpleValues(field: FormValue): unknown[] {
  const { kind, part } = field;
  if (part !== undefined) return [];
  if (kind.is === "choice") return kind.words.toReversed();
  if (kind.is === "flag") return [true, false];
  return kind.is === "number" ? [findFormDefault(field), kind.range.min + (kind.range.whole ? 6 : 0.7)] : [];
}

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  ...OWN_VALUES,
  ...Object.fromEntries(
    listFormFields()
      .map((field) => [field.name, listSimpleValues(field)] as const)
      .filter(([, values]) => values.length > 0),
  ),
};
const FIELDS = Object.keys(VALUES) as (keyof AgentForm)[];

async function read(text: string, { name, format }: Sample): Promise<Agent | undefined> {
  const file = basename(name);
  return (await parseAgentFile(text, { file, format, scope: "project", known })).agent;
}

function edit(sample: Sample, text: string, change: AgentFormChange): Promise<string> {
  const name = basename(sample.name).replace(/(\.agent)?\.md$/, "");
  return editAgentFile(text, change, { format: sample.format, name, known });
}

/** Everything of a definition but some parts, so that two can be compared. */
function rest(agent: Agent, field: keyof AgentForm): unknown {
  const { source: _, ...all } = agent;
  const dropped = new Set<string>([field, ...(field === "name" ? ["displayName", "aliases"] : [])]);
  if (field === "icon" || field === "color") {
    const { [field]: __, ...display } = all.display;
    return { ...all, display };
  }
  return Object.fromEntries(Object.entries(all).filter(([key]) => !dropped.has(key)));
}

/** Where a program has no place for a field, or another key of the file has the last word. */
function mayRefuse({ name, format }: Sample, field: keyof AgentForm): boolean {
  if (format === "opencode" || format === "gemini") return true;
  return name.includes("claude-commented") && /^(ask|disallowed)Tools$/.test(field);
}

/** Every value in the deep tests; otherwise the next one in each file. */
function valuesFor(sample: Sample, field: keyof AgentForm): readonly unknown[] {
  const values = VALUES[field] ?? [];
  if (process.env.RETINUE_DEEP) return values;
  const next = samples.indexOf(sample) % values.length;
  return values.slice(next, next + 1);
}

describe.each(samples)("$name", (sample) => {
  for (const field of FIELDS) {
    test(`${field} is written, and nothing else changes`, async () => {
      const base = (await fixAgentFile(sample.text)).text;
      const before = await read(base, sample);
      for (const value of valuesFor(sample, field)) {
        const change: AgentFormChange = { [field]: value };
        let edited: string;
        try {
          edited = await edit(sample, sample.text, change);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RetinueError);
          expect(mayRefuse(sample, field), `${(thrown as Error).message}`).toBe(true);
          continue;
        }
        const after = await read(edited, sample);
        if (before === undefined) continue;
        expect(after).toBeDefined();
        if (after === undefined) continue;
        if (value !== null)
          expect(
            isSameValue(toForm(after)[field], value),
            `${field} ${JSON.stringify(toForm(after)[field])}`,
          ).toBe(true);
        expect(rest(after, field)).toEqual(rest(before, field));
        expectOthersKept(edited === sample.text ? sample.text : base, edited, field);
        if (isSameValue(toForm(before)[field], value) && value !== null) expect(edited).toBe(sample.text);
        expect(await edit(sample, edited, { [field]: toForm(after)[field] })).toBe(edited);
        const back = await edit(sample, edited, { [field]: toForm(before)[field] }).catch(() => null);
        if (back !== null) {
          const again = await read(back, sample);
          expect(again && isSameValue(toForm(again)[field], toForm(before)[field])).toBe(true);
          expect(again && rest(again, field)).toEqual(rest(before, field));
        }
      }
    });
  }
});

/** Keys under which a field may stand. */
const KEYS: Partial<Record<keyof AgentForm, RegExp>> = {
  name: /^(name|id)$/,
  displayName: /^(display[-_]?name|display|name)$/i,
  tools: /^(tools|allowed[-_]?tools|permission)$/i,
  askTools: /^(ask[-_]?tools|permission)$/i,
  disallowedTools: /^(disallowed[-_]?tools|tools|permission)$/i,
  subagents: /^(subagents|agents|tools|permission)$/,
  maxOutputTokens: /^max[-_]?output[-_]?tokens$/i,
  limits: /^(limits|max[-_]?turns|max[-_]?steps|steps|timeout[-_]?mins)$/i,
  workspace: /^(workspace|isolation)$/,
  icon: /^(icon|display)$/,
  color: /^(color|display)$/,
  enabled: /^(enabled|disabled?)$/,
  prompt: /^prompt$/,
};

/** Lines by the top-level key they are under; comments between keys stand for themselves. */
function linesByKey(text: string): string[] {
  const split = splitFrontmatter(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
  if (split.kind !== "found" || split.yaml.startsWith("{")) return [];
  const lines = text.split(/(?<=\n)/);
  let key = "";
  let fences = 0;
  return lines.map((line, index) => {
    const isIn = fences === 1;
    const isInText = /^\s+\S/.test(lines.slice(index).find((each) => each.trim() !== "") ?? "");
    if (fences < 2 && /^\uFEFF?---\s*$/.test(line)) {
      fences++;
      return `fence|${line}`;
    }
    if (isIn && line.trim() === "" && !isInText) return `blank|${line}`;
    if (isIn && /^[A-Za-z]/.test(line)) key = /^[\w-]+/.exec(line)?.[0] ?? "";
    else if (isIn && /^#/.test(line)) key = "";
    return `${isIn ? key : "body"}|${line}`;
  });
}

function expectOthersKept(before: string, after: string, field: keyof AgentForm): void {
  const own = KEYS[field] ?? new RegExp(`^${field}$`);
  const others = (text: string) =>
    linesByKey(text).filter((line) => {
      const key = line.slice(0, line.indexOf("|"));
      return !own.test(key) && !(field === "prompt" && key === "body");
    });
  const kept = others(before);
  if (kept.length > 0) expect(others(after)).toEqual(kept);
}

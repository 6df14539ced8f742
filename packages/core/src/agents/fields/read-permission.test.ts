import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../rights/decide.ts";
import { toolsLayer } from "../../rights/layers.ts";
import { parseRules } from "../../rights/rule.ts";
import type { Agent, Problem } from "../../schema/agent.ts";
import type { Access, Target, Verdict } from "../../schema/rights.ts";
import { parseAgentValue } from "../define-agent.ts";

const known = {
  tools: new Set(
    `read write edit shell grep glob ls web_search web_fetch crawl_parallel todo test git git_commit
    write_local_file delegate delegate_many gmail_send_email`.split(/\s+/),
  ),
  groups: new Set(["web", "filesystem"]),
  servers: new Set(["jira"]),
};

type Map = Record<string, unknown>;

function read(
  fields: Map,
  names: Partial<typeof known> = known,
): { agent: Agent | undefined; problems: Problem[] } {
  const value = { name: "x", description: "d", prompt: "p", ...fields };
  const source = { format: "opencode", scope: "user", file: "/x.md" } as const;
  const { agent, problems } = parseAgentValue(value, { source, known: names });
  return { agent, problems };
}

function path(relative: string, mode: "read" | "write"): Target {
  return { kind: "path", path: `/p/${relative}`, root: "project", relative, mode };
}

/** A call as both programs see it: opencode by a permission and texts, Retinue by a tool and targets. */
type Probe = { permission: string; texts: string[]; access: Access };

const PATHS = [
  "docs",
  "docs/x",
  "docs/a/x",
  "docs/x.md",
  "docs/secret/x",
  "Docs/x",
  "src/x",
  "src/a.ts",
].concat([
  "src/a/b.ts",
  "x",
  "abc",
  "a/c",
  "README.md",
  ".env",
  "a/.env",
  ".env.example",
  "src/[id].ts",
  "src/i.ts",
]);
const COMMANDS: Record<string, string[]> = {
  git: ["git"],
  "git status": ["git status"],
  "git push origin": ["git push origin"],
  "rm -rf x": ["rm -rf x"],
  "npm run x": ["npm run x"],
  "npm run:x": ["npm run:x"],
  "git log && rm x": ["git log", "rm x"],
  gitk: ["gitk"],
};
const URLS = [
  "https://evil.com/x",
  "http://evil.com/",
  "https://docs.example.org/a/b",
  "https://evil.com.br/x",
];
const PROBES: Probe[] = [
  ...PATHS.flatMap((file): Probe[] => [
    {
      permission: "read",
      texts: [file],
      access: { tool: "read", groups: [], targets: [path(file, "read")] },
    },
    {
      permission: "edit",
      texts: [file],
      access: { tool: "edit", groups: [], targets: [path(file, "write")] },
    },
    {
      permission: "edit",
      texts: [file],
      access: { tool: "write", groups: [], targets: [path(file, "write")] },
    },
  ]),
  ...Object.entries(COMMANDS).map(
    ([command, texts]): Probe => ({
      permission: "bash",
      texts,
      access: { tool: "shell", groups: ["shell"], targets: [{ kind: "command", command }] },
    }),
  ),
  ...["docs", "TODO", "src/**"].flatMap((text): Probe[] =>
    ["grep", "glob"].map((tool) => ({
      permission: tool,
      texts: [text],
      access: { tool, groups: [], targets: [path("src", "read")] },
    })),
  ),
  ...URLS.flatMap((url): Probe[] =>
    ["web_fetch", "crawl_parallel"].map((tool) => ({
      permission: "webfetch",
      texts: [url],
      access: { tool, groups: ["web"], targets: [{ kind: "host", host: new URL(url).hostname }] },
    })),
  ),
  ...["reviewer", "scout", "general-purpose"].map(
    (agent): Probe => ({
      permission: "task",
      texts: [agent],
      access: { tool: "delegate", groups: ["delegation"], targets: [{ kind: "agent", agent }] },
    }),
  ),
  ...(
    [
      ["todowrite", "todo"],
      ["list", "ls"],
      ["websearch", "web_search"],
      ["gmail_send_email", "gmail_send_email"],
      ["jira_get", "mcp__jira__get"],
      ["jira_delete", "mcp__jira__delete"],
      ["other_get", "mcp__other__get"],
    ] as const
  ).map(
    ([permission, tool]): Probe => ({ permission, texts: ["*"], access: { tool, groups: [], targets: [] } }),
  ),
];

/** opencode's own reading, written a second time and by itself: rules in order, the last match decides, else allow. */
function opencodeSays(fields: { tools?: Map; permission?: unknown }, probe: Probe): Verdict {
  const joined: Map = {};
  for (const [name, on] of Object.entries(fields.tools ?? {})) {
    const key = ["write", "edit", "patch", "multiedit"].includes(name) ? "edit" : name;
    joined[key] = on === true ? "allow" : "deny";
  }
  const written = fields.permission ?? {};
  Object.assign(joined, typeof written === "string" ? { "*": written } : written);
  const rules: [key: string, pattern: string, verdict: Verdict][] = [
    ["*", "*", "allow"],
    ["read", "*.env", "ask"],
    ["read", "*.env.*", "ask"],
    ["read", "*.env.example", "allow"],
  ];
  for (const [key, setting] of Object.entries(joined)) {
    if (typeof setting === "string") rules.push([key, "*", setting as Verdict]);
    else
      for (const [pattern, word] of Object.entries(setting as Map))
        rules.push([key, pattern, word as Verdict]);
  }
  const verdicts = probe.texts.map((text) => {
    const rule = rules.findLast(
      ([key, pattern]) => toRegExp(key).test(probe.permission) && toRegExp(pattern).test(text),
    );
    return rule?.[2] ?? "ask";
  });
  return verdicts.includes("deny") ? "deny" : verdicts.includes("ask") ? "ask" : "allow";
}

function toRegExp(pattern: string): RegExp {
  const body = Array.from(pattern, (char) =>
    char === "*"
      ? ".*"
      : char === "?"
        ? "."
        : /\w/.test(char)
          ? char
          : `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`,
  ).join("");
  const optional = pattern.endsWith(" *") ? body.replace(/\\x20\.\*$/, "(?: .*)?") : body;
  return new RegExp(`^${optional}$`, "s");
}

const RANK: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };
const action = fc.constantFrom("allow", "ask", "deny");
const PATTERNS = [
  "*",
  "**",
  "docs/**",
  "docs/*",
  "docs",
  "docs/x",
  "docs/",
  "./docs/**",
  "docs/secret/**",
  "*.md",
].concat(
  [
    "src/*.ts",
    "src/**/b.ts",
    "s*c/x",
    "a?c",
    "*/x",
    "**/x",
    "/docs/**",
    "~/x",
    "",
    "d*s/*x*",
    "src/[id].ts",
    "?",
  ],
  [
    "*x",
    "x",
    ".env",
    "*.env",
    "git *",
    "git",
    "git*",
    "git push *",
    "rm *",
    "npm run:*",
    "npm run *",
    "* x",
    "g?t *",
  ],
  [
    "https://evil.com/*",
    "*evil.com*",
    "https://docs.example.org/a/*",
    "reviewer",
    "rev*",
    "r?viewer",
    "general-purpose",
  ],
);
const KEYS = [
  "*",
  "edit",
  "read",
  "bash",
  "webfetch",
  "task",
  "grep",
  "glob",
  "write",
  "shell",
  "e*",
  "?dit",
].concat(["jira_*", "jira_get", "gmail_send_email", "web", "list", "todowrite", "doom_loop", "delegate"]);
const setting = fc.oneof(
  action,
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...PATTERNS), action), { selector: ([key]) => key, maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
);
const permission = fc.oneof(
  { weight: 1, arbitrary: action },
  {
    weight: 9,
    arbitrary: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), setting), { selector: ([key]) => key, maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
  },
);
const switches = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.boolean()), { selector: ([key]) => key, maxLength: 3 })
  .map((entries) => Object.fromEntries(entries));

describe("rights from opencode", () => {
  test("over random maps no call passes more easily than opencode itself lets it pass", () => {
    let usable = 0;
    fc.assert(
      fc.property(
        fc.option(switches, { nil: undefined }),
        permission,
        fc.boolean(),
        (tools, written, full) => {
          const fields = { ...(tools === undefined ? {} : { tools }), permission: written };
          const { agent } = read(fields, full ? known : { servers: known.servers });
          if (agent === undefined) return;
          usable++;
          const layer = toolsLayer(agent);
          for (const probe of PROBES) {
            const ours = decide([layer], probe.access).verdict;
            const theirs = opencodeSays(fields, probe);
            if (RANK[ours] < RANK[theirs])
              expect({ fields, agent: describeRights(agent), probe, ours }).toEqual({ theirs });
          }
        },
      ),
      { numRuns: process.env.RETINUE_DEEP ? 20_000 : 500 },
    );
    expect(usable).toBeGreaterThan(200);
  });

  test("where order and patterns can be said here, the verdicts are the same", () => {
    const same: Map[] = [
      { edit: { "*": "deny", "docs/**": "allow" } },
      { edit: { "docs/**": "allow", "*": "deny" } },
      { "*": "deny", read: "allow", edit: { "*": "deny", "docs/**": "allow", "docs/secret/**": "deny" } },
      { bash: { "*": "deny", "git *": "allow", "git push *": "ask" } },
      { bash: "allow", "*": "deny" },
      { edit: { "*": "allow", "docs/secret/**": "deny" }, read: { "*": "allow" } },
      { edit: { "*": "deny", "*.md": "allow", docs: "allow" }, "jira_*": "deny" },
      { "*": "ask", read: "allow" },
      { task: { "*": "deny", reviewer: "allow" } },
    ];
    for (const written of same) {
      const { agent, problems } = read({ permission: written });
      expect(problems.filter(({ code }) => code === "stricter-permission")).toEqual([]);
      if (agent === undefined) throw new Error(JSON.stringify(problems));
      for (const probe of PROBES) {
        // opencode asks for .env files unless the map speaks of them; delegation has to be named to be given here.
        if (probe.texts[0]?.includes(".env.") || (probe.permission === "task" && !("task" in written)))
          continue;
        const ours = decide([toolsLayer(agent)], probe.access).verdict;
        expect({ written, probe, verdict: ours }).toEqual({
          written,
          probe,
          verdict: opencodeSays({ permission: written }, probe),
        });
      }
    }
  });

  test.each<[string, Map]>([
    ["an allow inside a general ask", { bash: { "*": "ask", "git *": "allow" } }],
    ["an allow after a wider deny", { edit: { "docs/**": "deny", "docs/x": "allow" } }],
    ["a pattern on what is searched for", { grep: { "*": "allow", "secret*": "deny" } }],
    ["one page of a host", { webfetch: { "*": "deny", "https://example.org/docs/*": "allow" } }],
    ["a right that opencode knows by another name", { "*": "deny", write: "allow" }],
  ])("%s is read more strictly, and a warning names it", (_, written) => {
    const { problems } = read({ permission: written });
    expect(
      problems.filter(({ code }) => code === "stricter-permission").map(({ severity }) => severity),
    ).toContain("warning");
  });
});

describe("a list of tools beside a permission map", () => {
  const listed = ["read", "edit", "shell", "gmail_send_email"];
  const lists = fc.uniqueArray(fc.constantFrom(...listed, "grep", "write(docs/**)", "mcp__jira__get"), {
    maxLength: 5,
  });

  test.each<[string, Map, string[]]>([
    ["everything denied", { "*": "deny" }, []],
    ["all but one denied", { "*": "deny", read: "allow" }, ["read"]],
    ["what the list lacks allowed", { "*": "deny", grep: "allow", bash: "allow" }, ["shell"]],
    ["some files", { "*": "deny", edit: { "*": "deny", "*.md": "allow" } }, ["edit(**/*.md)"]],
    ["everything allowed", { "*": "allow" }, ["read", "edit", "shell", "gmail_send_email"]],
  ])("gives what both give: %s", (_, permission, tools) => {
    const source = { format: "native", scope: "user", file: "/x.md" } as const;
    const value = { name: "x", description: "d", prompt: "p", tools: listed, permission };
    expect(parseAgentValue(value, { source, known }).agent?.tools).toEqual(tools);
  });

  test("a guard on what the list leaves out gives nothing", () => {
    const { agent } = read({ tools: ["grep"], permission: { web: "ask", edit: "ask" } });
    expect(agent).toMatchObject({ tools: ["grep"], askTools: [] });
  });

  test("lets no call pass more easily than either of them alone", () => {
    let usable = 0;
    fc.assert(
      fc.property(lists, permission, (tools, written) => {
        const { agent } = read({ tools, permission: written });
        if (agent === undefined) return;
        usable++;
        // What opencode asks for by default is a matter of its map.
        const allow = read({ tools }).agent?.tools ?? [];
        const list = { name: "list", allow: parseRules(allow, "list"), ask: [], deny: [] };
        for (const probe of PROBES.filter((one) => one.permission !== "task")) {
          const ours = decide([toolsLayer(agent)], probe.access).verdict;
          const alone = {
            list: decide([list], probe.access).verdict,
            permission: opencodeSays({ permission: written }, probe),
          };
          if (RANK[ours] < Math.max(RANK[alone.list], RANK[alone.permission]))
            expect({ tools, written, agent: describeRights(agent), probe, ours }).toEqual(alone);
        }
      }),
      { numRuns: process.env.RETINUE_DEEP ? 20_000 : 500 },
    );
    expect(usable).toBeGreaterThan(200);
  });
});

function describeRights({ tools, askTools, disallowedTools, subagents }: Agent): object {
  return { tools, askTools, disallowedTools, subagents };
}

test.each(["\u00a0", "\u200b", "\u202e", "\u3000"])(
  "a pattern with %j, which nobody sees, gives nothing, and where it restricts, it does so for the whole tool",
  (hidden) => {
    const allowed = read({ permission: { bash: { "*": "deny", [`git${hidden}status`]: "allow" } } });
    expect(allowed.agent?.disallowedTools).toContain("shell");
    const denied = read({ permission: { bash: { "*": "allow", [`rm${hidden}-rf *`]: "deny" } } });
    expect(denied.agent?.disallowedTools).toContain("shell");
    for (const { agent, problems } of [allowed, denied]) {
      expect(problems.map(({ code }) => code)).toContain("stricter-permission");
      expect(JSON.stringify([agent?.tools, agent?.askTools, agent?.disallowedTools])).not.toContain(hidden);
    }
  },
);

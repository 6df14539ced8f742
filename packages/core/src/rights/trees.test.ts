import { expect, test } from "vitest";
import type { Agent } from "../schema/agent.ts";
import type { Access, Layer, Target, Verdict } from "../schema/rights.ts";
import { decide } from "./decide.ts";
import { childChain, sessionLayer, settingsLayer, toolsLayer } from "./layers.ts";

/** The rights of random trees, judged a second time from the definitions by a naive reading of the rules. */

const TREES = process.env.RETINUE_DEEP === "1" ? 1_000_000 : 2_000;
const SEED = Number(process.env.RETINUE_SEED ?? 20_260_101);

const TOOLS: Record<string, { groups: string[]; kinds: Target["kind"][] }> = {
  read: { groups: ["filesystem"], kinds: ["path"] },
  write: { groups: ["filesystem"], kinds: ["path"] },
  shell: { groups: [], kinds: ["command"] },
  web_fetch: { groups: ["web"], kinds: ["host"] },
  send: { groups: ["mail"], kinds: ["recipient", "path"] },
  mcp__srv__get: { groups: [], kinds: [] },
  delegate: { groups: ["delegation"], kinds: ["agent"] },
  delegate_many: { groups: ["delegation"], kinds: ["agent"] },
  collect_results: { groups: ["delegation"], kinds: [] },
};
const TOOL_NAMES = Object.keys(TOOLS);
const PATHS = ["src/a.ts", "src/deep/b.ts", "SRC/a.ts", "docs/x.md", ".env", "/etc/hosts"];
/** Each with the parts that it runs; none if it cannot be understood. */
const COMMANDS: Record<string, string[]> = {
  "npm test": ["npm test"],
  "npm test -- a && git log": ["npm test -- a", "git log"],
  "rm -rf x": ["rm -rf x"],
  "git log; rm x": ["git log", "rm x"],
  "$X rm y": [],
};
const COMMAND_TEXTS = Object.keys(COMMANDS);
const HOSTS = ["a.example.org", "example.org", "evil.com"];
const ADDRESSES = ["bob@acme.com", "eve@evil.com"];
const AGENTS = ["alpha", "beta", "gamma", "general-purpose"];
const RULES = [
  ...[
    "read",
    "write",
    "shell",
    "web_fetch",
    "send",
    "filesystem",
    "web",
    "mail",
    "mcp__srv__*",
    "mcp__srv__get",
    "*",
  ],
  ...[
    "read(src/**)",
    "read(src)",
    "read(*)",
    "write(src/**)",
    "write(docs/*.md)",
    "write(.env)",
    "filesystem(/etc/**)",
  ],
  ...["shell(npm test *)", "shell(npm:*)", "shell(git log)", "shell(rm *)", "shell(*)"],
  ...["web_fetch(*.example.org)", "web_fetch(evil.com)", "send(*@acme.com)", "send(*)"],
  ...["delegate", "delegate(alpha)", "delegate_many", "collect_results", "delegation"],
];

type Random = { next(): number; chance(share: number): boolean; pick<T>(list: readonly T[]): T };

function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const pick = <T>(list: readonly T[]): T => {
    const item = list[Math.floor(next() * list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  return { next, chance: (share) => next() < share, pick };
}

function several<T>(random: Random, list: readonly T[], most: number): T[] {
  return Array.from({ length: Math.floor(random.next() * (most + 1)) }, () => random.pick(list));
}

function randomAgent(random: Random, name: string): Agent {
  const agent: Agent = {
    ...BLANK,
    name,
    askTools: several(random, RULES, 1),
    disallowedTools: several(random, RULES, 1),
  };
  if (random.chance(0.6)) agent.tools = several(random, RULES, 8);
  if (random.chance(0.4)) agent.grants = several(random, RULES, 8);
  if (random.chance(0.7)) {
    const policy = { execution: "parallel", maxConcurrent: 5, recursive: false } as const;
    const names = [...AGENTS, "*", "al*"];
    agent.subagents = { ...policy, allow: several(random, names, 3), deny: several(random, names, 1) };
  }
  return agent;
}

const BLANK: Agent = {
  ...{ name: "", displayName: "", aliases: [], description: "", prompt: "", model: "inherit" },
  ...{
    askTools: [],
    disallowedTools: [],
    context: "task_only",
    limits: {},
    deliverables: [],
    workspace: "shared",
  },
  ...{ retry: { attempts: 1, on: [], backoffMs: 0 }, flow: "loop", display: {}, enabled: true, extra: {} },
  source: { format: "code", scope: "code" },
};

function randomTarget(random: Random, kind: Target["kind"], mode: "read" | "write"): Target {
  if (kind === "command") return { kind, command: random.pick(COMMAND_TEXTS) };
  if (kind === "host") return { kind, host: random.pick(HOSTS) };
  if (kind === "recipient") return { kind, address: random.pick(ADDRESSES) };
  if (kind === "agent") return { kind, agent: random.pick(AGENTS) };
  const relative = random.pick(PATHS);
  const outside = relative.startsWith("/");
  return {
    kind,
    path: outside ? relative : `/p/${relative}`,
    root: outside ? "outside" : "project",
    relative,
    mode,
  };
}

function randomAccess(random: Random): Access {
  const tool = random.pick(TOOL_NAMES);
  const { groups, kinds } = TOOLS[tool] ?? { groups: [], kinds: [] };
  const mode = tool === "write" ? "write" : "read";
  const targets = kinds.flatMap((kind) =>
    Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => randomTarget(random, kind, mode)),
  );
  return { tool, groups, targets };
}

type Lists = { allow?: readonly string[]; ask: readonly string[]; deny: readonly string[] };
const RANK = { allow: 0, ask: 1, deny: 2 };
const worst = (verdicts: Verdict[]): Verdict =>
  verdicts.reduce((a, b) => (RANK[b] > RANK[a] ? b : a), "allow");

function naiveTool(rule: string, access: Access): boolean {
  const name = nameOf(rule);
  if (name === "*") return true;
  if (name === "mcp__srv__*") return access.tool.startsWith("mcp__srv__");
  if (name === "delegate" && access.tool === "delegate_many") return true;
  return name === access.tool || access.groups.includes(name);
}

const NAMES = new Map(RULES.map((rule) => [rule, rule.split("(")[0] ?? ""]));
const PATTERNS = new Map(
  RULES.map((rule) => [rule, rule.includes("(") ? rule.slice(rule.indexOf("(") + 1, -1) : undefined]),
);
const nameOf = (rule: string) => NAMES.get(rule) ?? "";
const patternOf = (rule: string) => PATTERNS.get(rule);

/** What each pattern of the vocabulary covers, written out by hand; loosely means case and depth do not save a path. */
function naivePath(pattern: string, path: string, loose: boolean): boolean {
  const outside = path.startsWith("/");
  const name = loose ? path.toLowerCase() : path;
  if (pattern === "/etc/**") return name.startsWith("/etc/");
  if (outside && !loose) return false;
  if (pattern === "*") return true;
  if (pattern === "src/**" || pattern === "src") return name.startsWith("src/");
  if (pattern === "docs/*.md") return name === "docs/x.md";
  return pattern === ".env" && name === ".env";
}

function naivePart(pattern: string, part: string): boolean {
  if (pattern === "*") return true;
  const stem = pattern.replace(/( |:)\*$/, "");
  return part === stem || (stem !== pattern && part.startsWith(`${stem} `));
}

function naiveTarget(pattern: string, target: Target, loose: boolean): boolean {
  switch (target.kind) {
    case "path":
      return naivePath(pattern, target.relative, loose);
    case "command": {
      const parts = COMMANDS[target.command] ?? [];
      const stem = pattern.replace(/( |:)?\*$/, "");
      if (!loose) return parts.length > 0 && parts.every((part) => naivePart(pattern, part));
      return (
        parts.some((part) => naivePart(pattern, part)) ||
        (parts.length === 0 && target.command.includes(stem))
      );
    }
    case "host":
      if (pattern === "*.example.org") return target.host === "a.example.org";
      return pattern === "*" || pattern === target.host;
    case "recipient":
      return pattern === "*" || (pattern === "*@acme.com" && target.address === "bob@acme.com");
    case "agent":
      return pattern === "*" || pattern === target.agent || (pattern === "al*" && target.agent === "alpha");
  }
}

function naiveHits(rule: string, access: Access): boolean {
  const pattern = patternOf(rule);
  if (!naiveTool(rule, access)) return false;
  return pattern === undefined || access.targets.some((target) => naiveTarget(pattern, target, true));
}

/** The pieces of a call of which each needs a rule: parts of commands, else targets of the kind that leads. */
function naivePieces(access: Access): Target[] {
  const kind = ["command", "agent", "recipient", "host", "path"].find((each) =>
    access.targets.some((t) => t.kind === each),
  );
  return access.targets.filter((target) => target.kind === kind);
}

function naiveCovered(lists: Lists, access: Access): boolean {
  const rules = (list: readonly string[]) => list.filter((rule) => naiveTool(rule, access));
  const [allow, ask] = [rules(lists.allow ?? []), rules(lists.ask)];
  if ([...allow, ...ask].some((rule) => patternOf(rule) === undefined)) return true;
  const pieces = naivePieces(access);
  const covered = (piece: Target) => {
    if (piece.kind !== "command") {
      return [...allow, ...ask].some((rule) => naiveTarget(patternOf(rule) ?? "", piece, false));
    }
    const parts = COMMANDS[piece.command] ?? [];
    return (
      parts.length > 0 &&
      parts.every((part) => [...allow, ...ask].some((rule) => naivePart(patternOf(rule) ?? "", part)))
    );
  };
  return pieces.length > 0 && pieces.every(covered);
}

function naiveLayer(lists: Lists, access: Access): Verdict {
  if (lists.deny.some((rule) => naiveHits(rule, access))) return "deny";
  if (lists.allow && !naiveCovered(lists, access)) return "deny";
  return lists.ask.some((rule) => naiveHits(rule, access)) ? "ask" : "allow";
}

const isDelegation = (name: string) => ["delegate", "delegate_many", "collect_results"].includes(name);

/** A list that does not speak of delegation leaves it to the others. */
function naiveForeign(lists: Lists, access: Access): Verdict {
  const names = (lists.allow ?? []).map(nameOf);
  const open = isDelegation(access.tool) && (!names.some(isDelegation) || access.tool === "collect_results");
  return naiveLayer(open ? { ask: lists.ask, deny: lists.deny } : lists, access);
}

function naiveDenied(agent: Agent, access: Access): boolean {
  const isDenied = (name: string) =>
    (agent.subagents?.deny ?? []).some((deny) => naiveTarget(deny, { kind: "agent", agent: name }, true));
  if (access.tool !== "delegate" && access.tool !== "delegate_many") return false;
  return access.targets.some((target) => target.kind === "agent" && isDenied(target.agent));
}

function naiveGrants(agent: Agent, access: Access): Verdict {
  if (naiveDenied(agent, access)) return "deny";
  const deny = agent.disallowedTools;
  if (agent.grants) return naiveForeign({ allow: agent.grants, ask: [], deny }, access);
  const tools = agent.tools?.filter((rule) => !isDelegation(nameOf(rule)));
  return naiveForeign({ ...(tools && { allow: tools }), ask: agent.askTools, deny }, access);
}

function naiveOwn(agent: Agent, access: Access): Verdict {
  const lists: Lists = {
    ...(agent.tools && { allow: agent.tools }),
    ask: agent.askTools,
    deny: agent.disallowedTools,
  };
  if (!isDelegation(access.tool)) return naiveLayer(lists, access);
  const open = [...(agent.subagents?.allow ?? [])];
  if (open.length === 0 || naiveDenied(agent, access)) return "deny";
  const isListed = (target: Target) =>
    [...open, "general-purpose"].some((name) => naiveTarget(name, target, false));
  if (access.tool !== "collect_results" && !access.targets.every(isListed)) return "deny";
  return naiveLayer({ ask: lists.ask, deny: lists.deny }, access);
}

type Node = { chain: readonly Layer[]; agent: Agent; above: ((access: Access) => Verdict)[]; depth: number };

function checkNode(random: Random, node: Node, seen: Record<Verdict, number>): void {
  for (let round = 0; round < 2; round++) {
    const access = randomAccess(random);
    const above = node.above.map((judge) => judge(access));
    const expected = worst([...above, naiveOwn(node.agent, access)]);
    const { verdict } = decide(node.chain, access);
    seen[verdict]++;
    if (verdict !== expected || RANK[verdict] < RANK[worst(above)]) {
      expect({ access, chain: node.chain, verdict }).toEqual({
        access,
        chain: node.chain,
        verdict: expected,
      });
    }
  }
}

function growTree(random: Random, seen: Record<Verdict, number>): void {
  const settings: Lists = { ask: several(random, RULES, 1), deny: several(random, RULES, 1) };
  if (random.chance(0.3)) settings.allow = several(random, RULES, 12);
  const disallowedTools = several(random, RULES, 1);
  const root = randomAgent(random, "main");
  const chain = [settingsLayer(settings), sessionLayer({ disallowedTools }), toolsLayer(root)];
  const session = (access: Access) => naiveForeign({ ask: [], deny: disallowedTools }, access);
  const open: Node[] = [
    { chain, agent: root, depth: 0, above: [(access) => naiveForeign(settings, access), session] },
  ];
  for (let node = open.pop(); node; node = open.pop()) {
    checkNode(random, node, seen);
    if (node.depth < 6 && random.chance(0.85)) open.push(childOf(random, node));
    if (node.depth < 3 && random.chance(0.15)) open.push(childOf(random, node));
  }
}

function childOf(random: Random, { chain, agent: parent, above, depth }: Node): Node {
  const child = randomAgent(random, random.pick(AGENTS));
  const narrowing = random.chance(0.15) ? several(random, RULES, 12) : undefined;
  const judges = [...above, (access: Access) => naiveGrants(parent, access)];
  if (narrowing) judges.push((access) => naiveLayer({ allow: narrowing, ask: [], deny: [] }, access));
  return {
    chain: childChain(chain, { parent, child, narrowing }),
    agent: child,
    above: judges,
    depth: depth + 1,
  };
}

test(`in ${TREES} random trees every verdict is the strictest that any definition above it gives`, {
  timeout: 3_600_000,
}, () => {
  const random = createRandom(SEED);
  const seen: Record<Verdict, number> = { allow: 0, ask: 0, deny: 0 };
  for (let tree = 0; tree < TREES; tree++) growTree(random, seen);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(TREES / 20);
});

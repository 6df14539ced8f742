import { isMap, isScalar, isSeq } from "yaml";
import type { SubagentPolicy } from "../../schema/agent.ts";
import { resolveRule } from "../fields/resolve-rule.ts";
import { agentReference } from "../fields/slug.ts";
import { listSource, mapSource } from "../yaml/scalar-source.ts";
import { cannotSay } from "./cannot-say.ts";
import { type Attempt, type Draft, newKey, setField, writtenInner, writtenKey } from "./draft.ts";
import { withPermissionMap } from "./edit-switches.ts";
import { changeEntries, readEntries } from "./list-source.ts";
import { endOf, keysAt, lineEnd, nodeAt, rangeOf, removeYamlEntry, setValue } from "./yaml-source.ts";

const DEFAULTS = { execution: "parallel", maxConcurrent: 5, recursive: false } as const;

/** Ways to write whom an agent may delegate to: in each place of the file that says it; null leaves it out. */
export function subagentsAttempts(desired: SubagentPolicy | null): Attempt[] {
  return [(draft) => (desired === null ? workAlone(draft) : writePolicy(draft, desired))];
}

function workAlone(draft: Draft): string {
  let yaml = withNames(draft, []);
  for (const field of ["subagents", "agents"]) {
    const key = writtenKey({ yaml }, field);
    if (key !== undefined) yaml = removeYamlEntry(yaml, [key]);
  }
  return yaml;
}

function writePolicy(draft: Draft, desired: SubagentPolicy): string {
  let yaml = withNames(draft, desired.allow);
  const have = new Set(namedIn({ ...draft, yaml }));
  const missing = desired.allow.filter((name) => !have.has(name));
  if (missing.length > 0 || !hasPolicy({ ...draft, yaml })) yaml = addNames({ ...draft, yaml }, missing);
  for (const [part, value] of partsOf(desired)) yaml = setPart({ ...draft, yaml }, part, value);
  return yaml;
}

/** What a policy says besides whom it allows; null is what holds anyway. */
function partsOf(policy: SubagentPolicy): [part: string, source: string | null][] {
  const { deny, execution, maxConcurrent, recursive } = policy;
  return [
    ["deny", deny.length === 0 ? null : listSource(deny)],
    ["execution", execution === DEFAULTS.execution ? null : execution],
    ["maxConcurrent", maxConcurrent === DEFAULTS.maxConcurrent ? null : String(maxConcurrent)],
    ["recursive", recursive ? "true" : null],
  ];
}

function setPart(draft: Draft, part: string, source: string | null): string {
  const key = writtenKey(draft, "subagents");
  const inner = key === undefined ? undefined : writtenInner(draft, key, part);
  if (source === null) {
    if (key === undefined || inner === undefined) return draft.yaml;
    // An empty map would mean that it works alone, where other fields say whom it may call.
    return keysAt(draft.yaml, [key]).length > 1
      ? removeYamlEntry(draft.yaml, [key, inner])
      : removeYamlEntry(draft.yaml, [key]);
  }
  if (key !== undefined && inner !== undefined && part === "deny") {
    const written = readEntries(draft.yaml, [key, inner]);
    const wanted = source.slice(1, -1).split(", ").map(unquote);
    if (written !== null) return changeEntries(draft.yaml, [key, inner], difference(written, wanted));
  }
  const shaped = key === undefined ? draft.yaml : asMap(draft.yaml, key);
  return setField({ ...draft, yaml: shaped }, "subagents", source, part);
}

/** A bare list of names becomes the `allow` of a map, so that there is room for more. */
function asMap(yaml: string, key: string): string {
  const node = nodeAt(yaml, [key]);
  if (node === null || isMap(node)) return yaml;
  const [start, end] = rangeOf(node);
  if (isSeq(node) && !node.flow) {
    const colon = yaml.lastIndexOf(":", start) + 1;
    const stop = lineEnd(yaml, endOf(yaml, node));
    const indented = yaml.slice(colon, stop).replaceAll(/\n(?=[ \t]*\S)/g, "\n  ");
    return `${yaml.slice(0, colon)}\n  allow:${indented}${yaml.slice(stop)}`;
  }
  if (isScalar(node) && node.type !== "PLAIN" && node.type !== "QUOTE_DOUBLE" && node.type !== "QUOTE_SINGLE")
    throw cannotSay("subagents", "its list of names is a block of text");
  const names = isScalar(node) ? listSource(readEntries(yaml, [key]) ?? []) : yaml.slice(start, end);
  return yaml.slice(0, start) + mapSource([["allow", names]]) + yaml.slice(end);
}

/** Takes out of every list of names whoever is not wanted. */
function withNames(draft: Draft, wanted: readonly string[]): string {
  let { yaml } = draft;
  for (const path of listPaths(draft)) {
    const written = readEntries(yaml, path);
    if (written === null) continue;
    const remove = new Set(
      written.flatMap((name, index) => (wanted.includes(agentReference(name) ?? name) ? [] : [index])),
    );
    if (remove.size > 0) yaml = changeEntries(yaml, path, { remove, add: [] });
  }
  yaml = changeDelegations({ ...draft, yaml }, (agents) =>
    agents.filter((name) => wanted.includes(agentReference(name) ?? name)),
  );
  return changeTasks({ ...draft, yaml }, wanted);
}

function addNames(draft: Draft, names: readonly string[]): string {
  const [path] = listPaths(draft);
  if (path !== undefined) return changeEntries(draft.yaml, path, { remove: new Set(), add: names });
  const tools = writtenKey(draft, "tools");
  const key = writtenKey(draft, "subagents");
  if (draft.format === "claude" && names.length > 0 && tools !== undefined && key === undefined) {
    const written = readEntries(draft.yaml, [tools]);
    if (delegationsIn(draft).length > 0)
      return changeDelegations(draft, (agents, at) => (at === 0 ? [...agents, ...names] : agents));
    if (written !== null && !written.includes("*"))
      return changeEntries(draft.yaml, [tools], { remove: new Set(), add: [delegation("Agent", names)] });
  }
  if (draft.format === "opencode" && key === undefined) return addTasks(draft, names);
  if (draft.format === "copilot" && key === undefined)
    return setValue(draft.yaml, [newKey(draft, "agents")], listSource(names));
  if (key !== undefined && keysAt(draft.yaml, [key]).length > 0)
    return setField(draft, "subagents", listSource(names), "allow");
  return setValue(draft.yaml, [key ?? newKey(draft, "subagents")], mapSource([["allow", listSource(names)]]));
}

/** Where the file lists names: `subagents` itself, its `allow`, or Copilot's `agents`. */
function listPaths(draft: Draft): string[][] {
  const key = writtenKey(draft, "subagents");
  const allow = key === undefined ? undefined : writtenInner(draft, key, "allow");
  const agents = writtenKey(draft, "agents");
  if (key !== undefined && allow !== undefined) return [[key, allow]];
  if (key !== undefined && readEntries(draft.yaml, [key]) !== null) return [[key]];
  return agents === undefined ? [] : [[agents]];
}

function hasPolicy(draft: Draft): boolean {
  return (
    listPaths(draft).length > 0 ||
    writtenKey(draft, "subagents") !== undefined ||
    delegationsIn(draft).length > 0 ||
    namedIn(draft).length > 0
  );
}

function namedIn(draft: Draft): string[] {
  const listed = listPaths(draft).flatMap((path) => readEntries(draft.yaml, path) ?? []);
  const tools = delegationsIn(draft).flatMap(({ agents }) => agents);
  const tasks = tasksIn(draft).flatMap(({ name, word }) => (word === "deny" ? [] : [name]));
  return [...listed, ...tools, ...tasks].map((name) => agentReference(name) ?? name);
}

type Delegation = { index: number; name: string; agents: string[] };

/** `Agent(a, b)` and `Task` among the tools. */
function delegationsIn({ yaml, format, known, ...draft }: Draft): Delegation[] {
  const key = writtenKey({ yaml, ...draft }, "tools");
  const entries = key === undefined || isMap(nodeAt(yaml, [key])) ? [] : (readEntries(yaml, [key]) ?? []);
  return entries.flatMap((entry, index) => {
    const resolved = resolveRule(entry, format, known);
    return resolved.kind === "delegate"
      ? [{ index, name: entry.replace(/\(.*$/s, ""), agents: resolved.agents }]
      : [];
  });
}

function changeDelegations(draft: Draft, change: (agents: string[], at: number) => string[]): string {
  const key = writtenKey(draft, "tools");
  const found = delegationsIn(draft);
  if (key === undefined || found.length === 0) return draft.yaml;
  const remove = new Set<number>();
  const replace = new Map<number, string>();
  for (const [at, { index, name, agents }] of found.entries()) {
    const wanted = change(agents, at);
    if (wanted.length === 0) remove.add(index);
    else if (wanted.join(",") !== agents.join(",")) replace.set(index, delegation(name, wanted));
  }
  if (remove.size + replace.size === 0) return draft.yaml;
  return changeEntries(draft.yaml, [key], { remove, replace, add: [] });
}

function delegation(name: string, agents: readonly string[]): string {
  return agents.includes("*") ? name : `${name}(${agents.join(", ")})`;
}

type Task = { path: string[]; name: string; word: unknown };

/** opencode's `permission.task`. */
function tasksIn(draft: Draft): Task[] {
  const key = writtenKey(draft, "permission");
  if (key === undefined) return [];
  return keysAt(draft.yaml, [key]).flatMap((tool) => {
    if (resolveRule(tool, draft.format, draft.known).kind !== "delegate") return [];
    const node = nodeAt(draft.yaml, [key, tool]);
    if (isScalar(node)) return [{ path: [key, tool], name: "*", word: node.value }];
    return keysAt(draft.yaml, [key, tool]).map((name) => {
      const word = nodeAt(draft.yaml, [key, tool, name]);
      return { path: [key, tool, name], name, word: isScalar(word) ? word.value : undefined };
    });
  });
}

function changeTasks(draft: Draft, wanted: readonly string[]): string {
  const gone = tasksIn(draft).filter(
    ({ name, word }) => word !== "deny" && !wanted.includes(agentReference(name) ?? name),
  );
  return gone.reduce((yaml, { path }) => removeYamlEntry(yaml, path), draft.yaml);
}

function addTasks(before: Draft, names: readonly string[]): string {
  const draft = { ...before, yaml: withPermissionMap(before) };
  const key = writtenKey(draft, "permission") ?? newKey(draft, "permission");
  const tool = keysAt(draft.yaml, [key]).find(
    (each) => resolveRule(each, draft.format, draft.known).kind === "delegate",
  );
  if (tool !== undefined && isMap(nodeAt(draft.yaml, [key, tool])))
    return names.reduce((yaml, name) => setValue(yaml, [key, tool, name], "allow"), draft.yaml);
  const words = names.filter((name) => name !== "*").map((name) => [name, "allow"] as const);
  const base = names.includes("*") ? "allow" : "deny";
  return setValue(draft.yaml, [key, tool ?? "task"], mapSource([["*", base], ...words]));
}

function difference(written: readonly string[], wanted: readonly string[]) {
  const names = written.map((name) => agentReference(name) ?? name);
  return {
    remove: new Set(names.flatMap((name, index) => (wanted.includes(name) ? [] : [index]))),
    add: wanted.filter((name) => !names.includes(name)),
  };
}

function unquote(source: string): string {
  return source.replaceAll(/^["']|["']$/g, "");
}

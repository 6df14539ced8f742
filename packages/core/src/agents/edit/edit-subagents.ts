import { isMap } from "yaml";
import type { SubagentPolicy } from "../../schema/agent.ts";
import { AGENT_FIELDS } from "../../schema/agent-fields.ts";
import { agentReference } from "../fields/slug.ts";
import { toWritten } from "../write-agent-file.ts";
import { findPermission } from "./edit-rights.ts";
import {
  type Draft,
  drop,
  findListChange,
  findPath,
  findWritten,
  nameNewKey,
  put,
  resolveEntry,
} from "./edit-values.ts";

const { parts: PARTS } = AGENT_FIELDS.subagents.kind;

/** Writes whom an agent may delegate to, in each place of the file that says it; null leaves it out. */
export function writeSubagents(draft: Draft, desired: SubagentPolicy | null): void {
  if (desired === null) {
    keepNames(draft, []);
    drop(draft, "subagents");
    drop(draft, "agents");
    return;
  }
  keepNames(draft, desired.allow);
  const have = new Set(listNamed(draft));
  const missing = desired.allow.filter((name) => !have.has(name));
  if (missing.length > 0 || !hasPolicy(draft)) addNames(draft, missing);
  for (const part of ["deny", "execution", "maxConcurrent", "recursive"] as const)
    writePart(draft, part, toWritten(desired[part], PARTS[part].kind));
}

function writePart(draft: Draft, part: string, value: unknown): void {
  const key = findWritten(draft, "subagents");
  const path = findPath(draft, "subagents", part);
  const written = path && Array.isArray(value) ? draft.edit.list(path) : null;
  if (value === undefined) {
    // An empty map would mean that it works alone, where other fields say whom it may call.
    if (key !== undefined && path) draft.edit.remove(draft.edit.keys([key]).length > 1 ? path : [key]);
  } else if (path && written) {
    const wanted = Array.isArray(value) ? value.map(String) : [];
    draft.edit.changeList(
      path,
      findListChange(written, wanted, (name) => agentReference(name) ?? name),
    );
  } else {
    if (key !== undefined) draft.edit.wrap([key], "allow");
    put(draft, "subagents", value, part);
  }
}

/** Takes out of every list of names those that are not wanted. */
function keepNames(draft: Draft, wanted: readonly string[]): void {
  const isWanted = (name: string): boolean => wanted.includes(agentReference(name) ?? name);
  for (const path of listPaths(draft)) {
    const written = draft.edit.list(path) ?? [];
    const remove = new Set(written.flatMap((name, index) => (isWanted(name) ? [] : [index])));
    if (remove.size > 0) draft.edit.changeList(path, { remove });
  }
  changeDelegations(draft, (agents) => agents.filter(isWanted));
  for (const { path, name, word } of listTasks(draft))
    if (word !== "deny" && !isWanted(name)) draft.edit.remove(path);
}

function addNames(draft: Draft, names: readonly string[]): void {
  const { edit, format } = draft;
  const [path] = listPaths(draft);
  const key = findWritten(draft, "subagents");
  if (path !== undefined) edit.changeList(path, { add: names });
  else if (key !== undefined && edit.keys([key]).length > 0) put(draft, "subagents", names, "allow");
  else if (key !== undefined) edit.set([key], { allow: names });
  else if (format === "claude" && addDelegation(draft, names)) return;
  else if (format === "opencode") addTasks(draft, names);
  else if (format === "copilot") edit.set([nameNewKey(draft, "agents")], names);
  else edit.set([nameNewKey(draft, "subagents")], { allow: names });
}

/** Adds names to `Agent(…)` among the tools; false if there is no list of tools for it. */
function addDelegation(draft: Draft, names: readonly string[]): boolean {
  const tools = findWritten(draft, "tools");
  const written = tools === undefined ? null : draft.edit.list([tools]);
  if (tools === undefined || names.length === 0) return false;
  if (listDelegations(draft).length > 0)
    changeDelegations(draft, (agents, at) => (at === 0 ? [...agents, ...names] : agents));
  else if (written === null || written.includes("*")) return false;
  else draft.edit.changeList([tools], { add: [spellDelegation("Agent", names)] });
  return true;
}

/** Where the file lists names: `subagents` itself, its `allow`, or Copilot's `agents`. */
function listPaths(draft: Draft): string[][] {
  const key = findWritten(draft, "subagents");
  const allow = findPath(draft, "subagents", "allow");
  const agents = findWritten(draft, "agents");
  if (allow) return [allow];
  if (key !== undefined && draft.edit.list([key]) !== null) return [[key]];
  return agents === undefined ? [] : [[agents]];
}

function hasPolicy(draft: Draft): boolean {
  return (
    listPaths(draft).length > 0 ||
    findWritten(draft, "subagents") !== undefined ||
    listDelegations(draft).length > 0 ||
    listNamed(draft).length > 0
  );
}

function listNamed(draft: Draft): string[] {
  const listed = listPaths(draft).flatMap((path) => draft.edit.list(path) ?? []);
  const tools = listDelegations(draft).flatMap(({ agents }) => agents);
  const tasks = listTasks(draft).flatMap(({ name, word }) => (word === "deny" ? [] : [name]));
  return [...listed, ...tools, ...tasks].map((name) => agentReference(name) ?? name);
}

type Delegation = { index: number; name: string; agents: string[] };

/** `Agent(a, b)` and `Task` among the tools. */
function listDelegations(draft: Draft): Delegation[] {
  const { edit } = draft;
  const key = findWritten(draft, "tools");
  const entries = key === undefined ? [] : (edit.list([key]) ?? []);
  return entries.flatMap((entry, index) => {
    const resolved = resolveEntry(entry, draft);
    const name = entry.replace(/\(.*$/s, "");
    return resolved.kind === "delegate" ? [{ index, name, agents: resolved.agents }] : [];
  });
}

function changeDelegations(draft: Draft, change: (agents: string[], at: number) => string[]): void {
  const key = findWritten(draft, "tools");
  const remove = new Set<number>();
  const replace = new Map<number, string>();
  for (const [at, { index, name, agents }] of listDelegations(draft).entries()) {
    const wanted = change(agents, at);
    if (wanted.length === 0) remove.add(index);
    else if (wanted.join(",") !== agents.join(",")) replace.set(index, spellDelegation(name, wanted));
  }
  if (key !== undefined && remove.size + replace.size > 0) draft.edit.changeList([key], { remove, replace });
}

function spellDelegation(name: string, agents: readonly string[]): string {
  return agents.includes("*") ? name : `${name}(${agents.join(", ")})`;
}

type Task = { path: string[]; name: string; word: unknown };

/** opencode's `permission.task`. */
function listTasks(draft: Draft): Task[] {
  const { edit } = draft;
  const key = findWritten(draft, "permission");
  if (key === undefined) return [];
  return edit.keys([key]).flatMap((tool) => {
    if (resolveEntry(tool, draft).kind !== "delegate") return [];
    const word = edit.scalar([key, tool]);
    if (word !== undefined) return [{ path: [key, tool], name: "*", word }];
    return edit
      .keys([key, tool])
      .map((name) => ({ path: [key, tool, name], name, word: edit.scalar([key, tool, name]) }));
  });
}

function addTasks(draft: Draft, names: readonly string[]): void {
  const { edit } = draft;
  const key = findPermission(draft);
  const tool = edit.keys([key]).find((each) => resolveEntry(each, draft).kind === "delegate");
  if (tool !== undefined && isMap(edit.get([key, tool]))) {
    for (const name of names) edit.set([key, tool, name], "allow");
    return;
  }
  const words = names.filter((name) => name !== "*").map((name) => [name, "allow"]);
  const base = names.includes("*") ? "allow" : "deny";
  edit.set([key, tool ?? "task"], { "*": base, ...Object.fromEntries(words) });
}

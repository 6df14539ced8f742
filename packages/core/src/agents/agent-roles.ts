import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, normalize, relative, sep } from "node:path";
import type { Agent, AgentSource, BrokenAgent, FindOwnFiles, Limits, Problem } from "../schema/agent.ts";
import { isRecord } from "../schema/json-object.ts";
import type { NumberRange } from "../schema/number-range.ts";
import { parseAgentValue } from "./define-agent.ts";
import { describePlainText } from "./describe-plain-text.ts";
import {
  badValue,
  type ReadContext,
  readBoolean,
  readLabel,
  readLimit,
  readMap,
  readNames,
  report,
} from "./fields/read-values.ts";
import { agentReference, makeSlug } from "./fields/slug.ts";
import type { KnownTools } from "./fields/tool-names.ts";
import { readText } from "./read-text.ts";
import { isBroken, takeDefinitions } from "./registry.ts";
import { normaliseText, splitFrontmatter } from "./yaml/split-frontmatter.ts";

/** Roles that were given as configuration. */
export type AgentRoles = {
  agents: Agent[];
  /** Roles that were written down but could not be used. */
  unusable: BrokenAgent[];
  settings: { maxDepth?: number; defaultLimits: Limits };
  problems: Problem[];
};

/** Where the configuration stands and what its roles may name. */
export type AgentRolesOptions = {
  /** Prompt files are looked for in these folders, in this order, and may not lie outside of them. */
  folders: readonly string[];
  /** The folder whose `prompts/roles` stand in for prompt files that are in none of the folders. */
  builtinDir?: string;
  file?: string;
  scope?: AgentSource["scope"];
  known?: KnownTools;
  /** The line of a path within the value, such as `/Roles/0`. */
  findLine?(path: string): number;
  /** The built-in agent of a name, whose tools and icon a role of that name has unless it says otherwise. */
  findBuiltIn?(name: string): Agent | undefined;
  /** Which prompt files may be read; all, if absent. */
  findOwn?: FindOwnFiles;
};

const TOP_KEYS = { MaxDepth: null, DefaultMaxIterations: null, DefaultMaxDurationMs: null, Roles: null };
const ROLE_KEYS = {
  RoleId: null,
  DisplayName: null,
  Description: null,
  ModelId: null,
  SystemPromptFile: null,
  CanDelegate: null,
  AllowedDelegations: null,
  AllowedTools: null,
  MaxIterations: null,
  MaxDurationMs: null,
};
const MS_PER_MINUTE = 60_000;
const COUNT: NumberRange = { min: 1, whole: true };
const DURATION: NumberRange = { min: 0, above: true };
/** What a role may use if it names no tools and is none of the built-in ones. */
const READING = ["read", "ls", "glob", "grep"];
const ROLE_UNUSABLE = "the role cannot be used";
const NOTHING_RUNS = "nothing runs until then";
const GENERAL_PURPOSE = "general-purpose";
const BUILT_IN_PROMPT = /^prompts\/roles\/[\w-]+\.md$/;
const PROMPT_ENDING = /\.(md|markdown|txt|prompt)$/i;

type Role = Partial<Record<keyof typeof ROLE_KEYS, unknown>>;

/** Reads the `AgentRoles` object, bare or wrapped under that name. Limits a role leaves out are the defaults. */
export async function parseAgentRoles(value: unknown, options: AgentRolesOptions): Promise<AgentRoles> {
  const roles: AgentRoles = { agents: [], unusable: [], settings: { defaultLimits: {} }, problems: [] };
  const findLine = options.findLine ?? (() => 0);
  const ctx: ReadContext = {
    file: options.file ?? "AgentRoles",
    format: "settings",
    known: options.known ?? {},
    findLine: () => findLine(""),
    problems: roles.problems,
  };
  const inner = isRecord(value) && isRecord(value.AgentRoles) ? value.AgentRoles : value;
  const map = readMap(ctx, "AgentRoles", inner, { parts: TOP_KEYS });
  if (map === undefined || map === "bad" || !Array.isArray(map.Roles)) {
    refuseAll(ctx, "must be an object with a list named Roles", 'write {"AgentRoles": {"Roles": [ … ]}}');
    return roles;
  }
  const { DefaultMaxIterations: iterations, DefaultMaxDurationMs: durationMs } = map;
  const defaults = readRoleLimits(ctx, { prefix: "Default", iterations, durationMs }, NOTHING_RUNS);
  const maxDepth = readLimit(ctx, "MaxDepth", map.MaxDepth, { min: 0, whole: true }, NOTHING_RUNS);
  if (defaults === "bad" || isMissing(maxDepth, map.MaxDepth)) {
    refuseAll(ctx, "has a limit that cannot be used", "correct the number, or remove it");
    return roles;
  }
  roles.settings = { ...(maxDepth === undefined ? {} : { maxDepth }), defaultLimits: defaults };
  const seen = new Set<string>();
  for (const [index, written] of map.Roles.entries()) {
    const path = `Roles.${index}`;
    const own: ReadContext = { ...ctx, problems: [], findLine: () => findLine(`/Roles/${index}`) };
    const { name, agent } = await readRole(own, { path, written, defaults, options });
    roles.problems.push(...own.problems);
    if (name !== undefined && seen.has(name)) reportTwice(own, roles.problems, name);
    else if (agent !== undefined) roles.agents.push(agent);
    else
      roles.unusable.push(
        ...takeDefinitions({ name, problems: own.problems }, locateRole(ctx, options)).filter(isBroken),
      );
    if (name !== undefined) seen.add(name);
  }
  roles.agents = roles.agents.map((agent) => withGrants(agent, roles.agents, options));
  return roles;
}

/** With roles that cannot be read at all, nothing may run: built-in agents in their place could do more. */
function refuseAll(ctx: ReadContext, message: string, fix: string): void {
  report(ctx, "error", { path: "AgentRoles", code: "bad-setting", message: `AgentRoles ${message}`, fix });
}

function reportTwice(ctx: ReadContext, problems: Problem[], name: string): void {
  const message = `role '${name}' is given twice; the first one is used`;
  const found = { path: "RoleId", code: "duplicate-role", message, fix: "remove or rename one of them" };
  report({ ...ctx, problems }, "warning", found);
}

type RoleEntry = { path: string; written: unknown; defaults: Limits; options: AgentRolesOptions };

/** A role as an agent; without one, the problems say why, and `name` is what must not be replaced by another agent. */
async function readRole(ctx: ReadContext, entry: RoleEntry): Promise<{ name?: string; agent?: Agent }> {
  const { path, written, options } = entry;
  const role: Role | "bad" | undefined = readMap(ctx, path, written, { parts: ROLE_KEYS });
  const id = role === undefined || role === "bad" ? undefined : readLabel(ctx, `${path}.RoleId`, role.RoleId);
  const name = id === undefined ? undefined : makeSlug(id);
  if (role === undefined || role === "bad" || id === undefined || name === undefined) {
    report(ctx, "error", {
      path,
      code: "missing-role-id",
      message: `${path} has no RoleId that can be used`,
      fix: "name the role, such as coder",
    });
    return {};
  }
  const where = `role '${id}'`;
  const prompt = await readPromptFile(ctx, where, role.SystemPromptFile, options);
  const { MaxIterations: iterations, MaxDurationMs: durationMs } = role;
  const limits = readRoleLimits(ctx, { prefix: `${where}.`, iterations, durationMs }, ROLE_UNUSABLE);
  if (prompt === undefined || limits === "bad") return { name };
  const builtIn = options.findBuiltIn?.(name);
  const shown = readLabel(ctx, `${where}.DisplayName`, role.DisplayName);
  const allow = readAllowedDelegations(ctx, where, role);
  const source: AgentSource = {
    ...locateRole(ctx, options),
    ...(prompt.file !== undefined && { promptFile: prompt.file }),
  };
  const draft = {
    name,
    displayName: shown ?? id,
    description:
      readLabel(ctx, `${where}.Description`, role.Description) ??
      describePlainText(prompt.text) ??
      shown ??
      id,
    prompt: prompt.text,
    model: role.ModelId,
    ...readTools(role, builtIn),
    ...(builtIn && { display: builtIn.display }),
    subagents: allow === undefined ? undefined : { allow, deny: deniedDelegations(allow) },
    limits: { ...entry.defaults, ...limits },
  };
  const parsed = parseAgentValue(draft, { source, known: ctx.known });
  const line = ctx.findLine(path);
  const told = parsed.problems.map((each) => ({ ...each, line, message: `${where}: ${each.message}` }));
  ctx.problems.push(...told);
  return parsed.agent === undefined ? { name } : { name, agent: parsed.agent };
}

function locateRole({ file }: ReadContext, { scope = "user" }: AgentRolesOptions): AgentSource {
  return { format: "settings", scope, file };
}

/** What a role names, else what the built-in one of its name may use, else only reading. */
function readTools({ AllowedTools: written }: Role, builtIn: Agent | undefined) {
  if (written !== undefined && written !== null) return { tools: written };
  if (!builtIn?.tools) return { tools: READING };
  const { tools, askTools, disallowedTools } = builtIn;
  return { tools, askTools, disallowedTools };
}

type WrittenLimits = { prefix: string; iterations: unknown; durationMs: unknown };

/** The limits; `instead` tells what happens if one is wrong. */
function readRoleLimits(ctx: ReadContext, written: WrittenLimits, instead: string): Limits | "bad" {
  const { prefix, iterations, durationMs } = written;
  const turns = readLimit(ctx, `${prefix}MaxIterations`, iterations, COUNT, instead);
  const ms = readLimit(ctx, `${prefix}MaxDurationMs`, durationMs, DURATION, instead);
  if (isMissing(turns, iterations) || isMissing(ms, durationMs)) return "bad";
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(ms === undefined ? {} : { minutes: ms / MS_PER_MINUTE }),
  };
}

/** Whether a number was given that could not be read. */
function isMissing(read: number | undefined, written: unknown): boolean {
  return read === undefined && written !== undefined;
}

/** Whom a role may call; `CanDelegate: false` wins over a list. */
function readAllowedDelegations(ctx: ReadContext, where: string, role: Role): string[] | undefined {
  const listed = readNames(role.AllowedDelegations);
  if (listed === "bad") {
    const { AllowedDelegations: value } = role;
    const instead = "it works alone";
    badValue(ctx, `${where}.AllowedDelegations`, { value, accepted: "a list of role ids", instead });
    return undefined;
  }
  const may = readBoolean(ctx, `${where}.CanDelegate`, role.CanDelegate, {
    absent: listed !== undefined,
    bad: false,
  });
  if (may && listed === undefined) {
    const message = `${where} may delegate, but AllowedDelegations names nobody`;
    report(ctx, "warning", {
      path: where,
      code: "no-delegations",
      message,
      fix: "list the role ids in AllowedDelegations",
    });
  }
  return may ? (listed ?? []) : undefined;
}

/** A clean copy of the caller is one more agent, so a role has it only if it is listed. */
function deniedDelegations(allow: readonly string[]): string[] {
  return allow.some((name) => agentReference(name) === GENERAL_PURPOSE) ? [] : [GENERAL_PURPOSE];
}

/**
 * Who may call a role passes on what that role holds: a planner that reads can have a coder that writes. What stands
 * above in the chain of rights still cuts it.
 */
function withGrants(agent: Agent, roles: readonly Agent[], { findBuiltIn }: AgentRolesOptions): Agent {
  if (!agent.subagents) return agent;
  const reached = new Map<string, Agent | undefined>([[agent.name, agent]]);
  for (const [, each] of reached) {
    for (const name of each?.subagents?.allow ?? []) {
      const found = roles.find((role) => role.name === name) ?? findBuiltIn?.(name);
      if (!reached.has(name) && found) reached.set(name, found);
    }
  }
  const held = [...reached.values()].map((each) => each?.tools);
  const grants = held.every((tools) => tools !== undefined) ? [...new Set(held.flat())] : ["*"];
  return { ...agent, grants };
}

/** The text of a role's prompt; the file only where it is not one of the built-in ones. */
type RolePrompt = { text: string; file?: string };

async function readPromptFile(
  ctx: ReadContext,
  where: string,
  value: unknown,
  { folders, builtinDir, findOwn = async (paths) => paths }: AgentRolesOptions,
): Promise<RolePrompt | undefined> {
  const refuse = (code: string, message: string): undefined => {
    report(ctx, "error", {
      path: where,
      code,
      message: `${where}: ${message}`,
      fix: "set SystemPromptFile to a Markdown file of the project",
    });
    return undefined;
  };
  if (typeof value !== "string" || value.trim() === "")
    return refuse("missing-prompt-file", "there is no SystemPromptFile");
  const written = normalize(value.trim().replaceAll("\\", "/"));
  const outside = () => refuse("prompt-file-outside", `${value} lies outside ${folders.join(" and ")}`);
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  const isInside = (path: string) => [...folders, ...real].some((folder) => !leaves(relative(folder, path)));
  if (isAbsolute(written) ? !isInside(written) : leaves(written)) return outside();
  if (!PROMPT_ENDING.test(written))
    return refuse(
      "prompt-file-kind",
      `${value} is not a text: a prompt ends in .md, .markdown, .txt or .prompt`,
    );
  const paths = isAbsolute(written) ? [written] : folders.map((folder) => join(folder, written));
  for (const path of await findOwn(paths)) {
    const found = await realpath(path).catch(() => undefined);
    if (found === undefined) continue;
    return isInside(found) ? readPrompt(found, refuse) : outside();
  }
  const builtIn = builtinDir !== undefined && BUILT_IN_PROMPT.test(written) && join(builtinDir, written);
  if (builtIn && existsSync(builtIn)) return { text: readPrompt(builtIn, refuse)?.text ?? "" };
  return refuse("missing-prompt-file", `there is no file ${paths.join(" or ")}`);
}

/** Whether a relative path leads out of its folder. */
function leaves(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}

function readPrompt(
  file: string,
  refuse: (code: string, message: string) => undefined,
): RolePrompt | undefined {
  const read = readText(file);
  if ("problem" in read) return refuse(read.problem.code, `${file}: ${read.problem.message}`);
  const split = splitFrontmatter(normaliseText(read.text));
  const text = split.kind === "none" || split.kind === "found" ? split.body : normaliseText(read.text).trim();
  return text === "" ? refuse("empty-prompt-file", `${file} is empty`) : { text, file };
}

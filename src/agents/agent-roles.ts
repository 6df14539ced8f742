import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { Agent, AgentSource, Limits, Problem } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";
import { parseAgentValue } from "./define-agent.ts";
import { describePlainText } from "./describe-plain-text.ts";
import {
  isMap,
  type ReadContext,
  readBoolean,
  readLabel,
  readMap,
  readNames,
  readNumber,
  report,
} from "./fields/read-values.ts";
import type { KnownTools } from "./fields/tool-names.ts";
import { readText } from "./read-text.ts";
import { normaliseText, splitFrontmatter } from "./yaml/split-frontmatter.ts";

/** Roles that were given as configuration. */
export type AgentRoles = {
  agents: Agent[];
  settings: { maxDepth?: number; defaultLimits: Limits };
  problems: Problem[];
};

/** Where the configuration stands and what its tool lists may name. */
export type AgentRolesOptions = {
  /** Prompt files are relative to this folder and may not lie outside it. */
  baseDir: string;
  file?: string;
  scope?: AgentSource["scope"];
  known?: KnownTools;
};

const TOP_KEYS = ["MaxDepth", "DefaultMaxIterations", "DefaultMaxDurationMs", "Roles"] as const;
const ROLE_KEYS = [
  "RoleId",
  "DisplayName",
  "Description",
  "ModelId",
  "SystemPromptFile",
  "CanDelegate",
  "AllowedDelegations",
  "AllowedTools",
  "MaxIterations",
  "MaxDurationMs",
] as const;
const MS_PER_MINUTE = 60_000;

type Role = Partial<Record<(typeof ROLE_KEYS)[number], unknown>>;

/** Reads the `AgentRoles` object, bare or wrapped under that name. Limits a role leaves out are the defaults. */
export async function parseAgentRoles(value: unknown, options: AgentRolesOptions): Promise<AgentRoles> {
  const problems: Problem[] = [];
  const file = options.file ?? "AgentRoles";
  const ctx: ReadContext = {
    file,
    format: "settings",
    known: options.known ?? {},
    lineOf: () => 0,
    problems,
  };
  const inner = isMap(value) && isMap(value.AgentRoles) ? value.AgentRoles : value;
  const map = readMap(ctx, "AgentRoles", inner, TOP_KEYS);
  if (map === undefined || map === "bad" || !Array.isArray(map.Roles)) {
    const message = "AgentRoles must be an object with a list named Roles";
    report(ctx, "error", {
      path: "AgentRoles",
      code: "bad-value",
      message,
      fix: 'write {"AgentRoles": {"Roles": [ … ]}}',
    });
    return { agents: [], settings: { defaultLimits: {} }, problems };
  }
  const defaultLimits = readRoleLimits(ctx, "Default", map.DefaultMaxIterations, map.DefaultMaxDurationMs);
  const maxDepth = readNumber(ctx, "MaxDepth", map.MaxDepth, { min: 0, whole: true });
  const agents: Agent[] = [];
  for (const [index, written] of map.Roles.entries()) {
    const agent = await readRole(ctx, { path: `Roles.${index}`, written, defaultLimits, options });
    if (agent !== undefined) agents.push(agent);
  }
  return { agents, settings: { ...(maxDepth === undefined ? {} : { maxDepth }), defaultLimits }, problems };
}

type RoleEntry = { path: string; written: unknown; defaultLimits: Limits; options: AgentRolesOptions };

async function readRole(ctx: ReadContext, entry: RoleEntry): Promise<Agent | undefined> {
  const { path, written, options } = entry;
  const role: Role | "bad" | undefined = readMap(ctx, path, written, ROLE_KEYS);
  const id = role === undefined || role === "bad" ? undefined : readLabel(ctx, `${path}.RoleId`, role.RoleId);
  if (role === undefined || role === "bad" || id === undefined) {
    report(ctx, "error", {
      path,
      code: "missing-role-id",
      message: `${path} has no RoleId`,
      fix: "name the role",
    });
    return undefined;
  }
  const where = `role '${id}'`;
  const prompt = await readPromptFile(ctx, where, role.SystemPromptFile, options.baseDir);
  if (prompt === undefined) return undefined;
  const shown = readLabel(ctx, `${where}.DisplayName`, role.DisplayName);
  const allow = readAllowedDelegations(ctx, where, role);
  const source: AgentSource = { format: "settings", scope: options.scope ?? "user", file: ctx.file };
  const draft = {
    name: id,
    displayName: shown,
    description:
      readLabel(ctx, `${where}.Description`, role.Description) ?? describePlainText(prompt) ?? shown ?? id,
    prompt,
    model: role.ModelId,
    tools: role.AllowedTools,
    subagents: allow === undefined ? undefined : { allow },
    limits: {
      ...entry.defaultLimits,
      ...readRoleLimits(ctx, `${where}.`, role.MaxIterations, role.MaxDurationMs),
    },
  };
  const parsed = parseAgentValue(draft, { source, known: ctx.known });
  ctx.problems.push(
    ...parsed.problems.map((problem) => ({ ...problem, message: `${where}: ${problem.message}` })),
  );
  return parsed.agent;
}

function readRoleLimits(ctx: ReadContext, prefix: string, iterations: unknown, durationMs: unknown): Limits {
  const turns = readNumber(ctx, `${prefix}MaxIterations`, iterations, { min: 1, whole: true });
  const ms = readNumber(ctx, `${prefix}MaxDurationMs`, durationMs, { min: 1 });
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(ms === undefined ? {} : { minutes: ms / MS_PER_MINUTE }),
  };
}

/** Whom a role may call; `CanDelegate: false` wins over a list. */
function readAllowedDelegations(ctx: ReadContext, where: string, role: Role): string[] | undefined {
  const listed = readNames(role.AllowedDelegations);
  if (listed === "bad") {
    const message = `${where}: AllowedDelegations must be a list of role ids; it works alone`;
    report(ctx, "warning", { path: where, code: "bad-value", message, fix: "write a list of role ids" });
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

async function readPromptFile(
  ctx: ReadContext,
  where: string,
  value: unknown,
  baseDir: string,
): Promise<string | undefined> {
  const refuse = (code: string, message: string): undefined => {
    report(ctx, "error", {
      path: where,
      code,
      message: `${where}: ${message}`,
      fix: "set SystemPromptFile to a Markdown file",
    });
    return undefined;
  };
  if (typeof value !== "string" || value.trim() === "")
    return refuse("missing-prompt-file", "there is no SystemPromptFile");
  const path = isAbsolute(value) ? value : join(baseDir, value);
  try {
    const inside = relative(await realpath(baseDir), await realpath(path));
    if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
      return refuse("prompt-file-outside", `${value} lies outside ${baseDir}`);
    }
  } catch (thrown) {
    return refuse("missing-prompt-file", `${path} cannot be read: ${messageOf(thrown)}`);
  }
  const read = readText(path);
  if ("problem" in read) return refuse(read.problem.code, read.problem.message);
  const split = splitFrontmatter(normaliseText(read.text));
  const prompt =
    split.kind === "none" || split.kind === "found" ? split.body : normaliseText(read.text).trim();
  return prompt === "" ? refuse("empty-prompt-file", `${path} is empty`) : prompt;
}

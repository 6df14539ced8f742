import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { resolveRule } from "@retinue/core/agents/fields/resolve-rule";
import type { KnownTools } from "@retinue/core/agents/fields/tool-names";
import { type AgentRegistry, requireAgent } from "@retinue/core/agents/registry";
import type { Limits } from "@retinue/core/schema/agent";
import { checkJson } from "@retinue/core/schema/check-json";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { ForkPoint } from "@retinue/core/schema/record";
import type { Settings } from "@retinue/core/schema/settings";
import { readStdin } from "../ask.ts";
import { omitAbsent, type RUNNING, type SharedOptions } from "../options.ts";
import type { Cli, CommonOptions, Terminal } from "../terminal.ts";

/** Options of `retinue run`, and of whatever else gives a task to an agent. */
export type RunOptions = CommonOptions &
  Pick<SharedOptions, "agent" | (typeof RUNNING)[number]> &
  Required<Pick<SharedOptions, "outputFormat" | "allowedTools" | "disallowedTools">> & {
    /** Of `spawn`: how many tool calls the agent has, and only which of its tools. */
    budget?: number;
    tools?: string[];
    /** `ID:SEQ`. */
    fork?: string;
    /** Continues the newest conversation of the project. */
    continue?: boolean;
    /** A session's id; true for the newest. */
    resume?: string | true;
  };

/** The moment that `--fork` names. */
export function parseFork({ fork }: RunOptions): ForkPoint | undefined {
  if (fork === undefined) return undefined;
  const named = /^(.+):(\d+)$/.exec(fork);
  if (!named?.[1])
    throw new RetinueError(
      "usage",
      `--fork '${fork}' is not ID:SEQ`,
      "such as ses_abc:12; seqs are in: retinue trace ID --json",
    );
  return { sessionId: named[1], seq: Number(named[2]) };
}

/** How the result is printed; `--json` is short for one of the formats. */
export function chooseFormat({ outputFormat, json }: RunOptions): RunOptions["outputFormat"] {
  return json && outputFormat === "text" ? "json" : outputFormat;
}

/** The settings with what the person said on the command line. */
export function applyFlags(
  settings: Settings,
  { maxDepth, maxAgents, maxOutputTokens, limits }: RunOptions,
): Settings {
  return {
    ...settings,
    ...omitAbsent({ maxDepth, maxAgents, maxOutputTokens }),
    ...(limits !== undefined && { limits: { ...settings.limits, scale: limits } }),
  };
}

/** The limits of the first run. */
export function pickLimits({ maxTurns, maxBudgetUsd, budget }: RunOptions): Limits {
  return omitAbsent({ toolCalls: budget, turns: maxTurns, costUsd: maxBudgetUsd });
}

/** Rules of a flag in our own names; lists may be split by commas or blanks, and vendors' names are understood. */
export function parseToolRules(values: readonly string[], flag: string, known: KnownTools): string[] {
  return values.flatMap(splitList).flatMap((text) => {
    const resolved = resolveRule(text, "native", known);
    if (resolved.kind === "rules") return resolved.rules;
    if (resolved.kind === "everything") return ["*"];
    if (resolved.kind === "elsewhere") return [];
    if (resolved.kind === "delegate")
      return resolved.agents.map((name) => (name === "*" ? "delegate" : `delegate(${name})`));
    throw new RetinueError(
      "input",
      `${flag}: '${text}' names no tool; ${resolved.hint}`,
      "see the names with: retinue agents explain AGENT",
    );
  });
}

/** Splits at commas and blanks outside of brackets. */
function splitList(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = "";
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (depth <= 0 && /[\s,]/.test(char)) {
      items.push(item);
      item = "";
    } else item += char;
  }
  return [...items, item].filter((each) => each !== "");
}

const MAX_TASK_BYTES = 10 * 1024 * 1024;

/** The task: the argument, or else what comes by stdin. */
export async function readTask(argument: string | undefined, terminal: Terminal): Promise<string> {
  if (argument === undefined && terminal.stdin.isTTY) throw noTask("usage");
  const task = argument ?? (await readStdin("task", MAX_TASK_BYTES, terminal));
  if (task.trim() === "") throw noTask(argument === undefined ? "usage" : "input");
  return task;
}

/** The agent that gets the task: the named one, `main`, or the only one. */
export function pickAgent(registry: AgentRegistry, name: string | undefined): string {
  const wanted = name ?? "main";
  if (name !== undefined || registry.get(wanted) || registry.getBroken(wanted)) {
    requireAgent(registry, wanted);
    return wanted;
  }
  const [only, ...others] = registry.list();
  if (!only) {
    throw new RetinueError(
      "config",
      "there are no agents",
      "put one into .retinue/agents, or see why a file was not used with: retinue agents check",
    );
  }
  if (others.length === 0) return only.name;
  const names = [only, ...others].map((agent) => agent.name).join(", ");
  throw new RetinueError(
    "input",
    `no agent is named 'main', so say which one to run: ${names}`,
    `add --agent ${only.name}`,
  );
}

function noTask(code: "usage" | "input"): RetinueError {
  return new RetinueError(code, "there is no task", 'give it as an argument, retinue run "…", or by stdin');
}

const MAX_SCHEMA_BYTES = 200_000;

/** The form that `--json-schema` asks of the answer: the schema itself, or a file that holds it. */
export async function readAnswerSchema(cli: Cli<RunOptions>): Promise<JsonSchema | undefined> {
  const { jsonSchema, cwd } = cli.options;
  if (jsonSchema === undefined) return undefined;
  const isInline = /^\s*\{/.test(jsonSchema);
  const text = isInline ? jsonSchema : await readSchemaFile(resolve(cli.cwd, cwd ?? ".", jsonSchema));
  const schema = parseSchema(text, isInline ? "it" : jsonSchema);
  // A sound schema is understood whatever the value.
  const [issue] = await checkJson(schema, null);
  if (issue?.startsWith("the schema cannot be used")) throw unusable(issue);
  return schema;
}

async function readSchemaFile(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error("it is not a file");
    if (found.size > MAX_SCHEMA_BYTES) throw new Error(`it is larger than ${MAX_SCHEMA_BYTES} bytes`);
    return await readFile(path, "utf8");
  } catch (thrown) {
    throw unusable(`${path} cannot be read: ${messageOf(thrown)}`);
  }
}

function parseSchema(text: string, name: string): JsonSchema {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw unusable(`${name} is not JSON: ${messageOf(thrown)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw unusable(`${name} is not a schema: a JSON Schema is an object`);
}

function unusable(why: string): RetinueError {
  return new RetinueError(
    "input",
    `--json-schema cannot be used: ${why}`,
    'give a file or the schema itself, such as \'{"type": "object", "required": ["answer"]}\'',
  );
}

import { resolveRule } from "../../agents/fields/resolve-rule.ts";
import type { KnownTools } from "../../agents/fields/tool-names.ts";
import type { PermissionMode } from "../../runtime/approvals.ts";
import type { ForkPoint } from "../../runtime/record/fork-run.ts";
import type { Limits } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Settings } from "../../schema/settings.ts";
import type { CommonOptions } from "../open-project.ts";

/** Options of `retinue run`. */
export type RunOptions = CommonOptions & {
  agent?: string;
  model?: string;
  print?: boolean;
  outputFormat: "text" | "json" | "stream-json";
  allowedTools: string[];
  disallowedTools: string[];
  permissionMode?: PermissionMode;
  maxTurns?: number;
  /** Of `spawn`: tool calls of the agent. */
  budget?: number;
  /** Of `spawn`: only these of the agent's tools. */
  tools?: string[];
  maxBudgetUsd?: number;
  maxDepth?: number;
  maxAgents?: number;
  maxOutputTokens?: number;
  /** By how much the agents' own limits are raised. */
  limits?: number;
  agents?: string;
  /** False with `--no-triggers`. */
  triggers?: boolean;
  /** `ID:SEQ`. */
  fork?: string;
  /** Goes on with the newest conversation of the project. */
  continue?: boolean;
  /** A session's id; true for the newest. */
  resume?: string | true;
  onAsk?: "deny" | "park";
  /** A file or the schema itself. */
  jsonSchema?: string;
  /** Where the session's files are copied to. */
  out?: string;
};

/** The moment that `--fork` names. */
export function forkOf({ fork }: RunOptions): ForkPoint | undefined {
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
export function formatOf({ outputFormat, json }: RunOptions): RunOptions["outputFormat"] {
  return json && outputFormat === "text" ? "json" : outputFormat;
}

/** The settings with what the person said on the command line. */
export function withFlags(
  settings: Settings,
  { maxDepth, maxAgents, maxOutputTokens, limits }: RunOptions,
): Settings {
  return {
    ...settings,
    ...(maxDepth !== undefined && { maxDepth }),
    ...(maxAgents !== undefined && { maxAgents }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(limits !== undefined && { limits: { ...settings.limits, scale: limits } }),
  };
}

/** The limits of the first run. */
export function limitsOf({ maxTurns, maxBudgetUsd, budget }: RunOptions): Limits {
  return {
    ...(budget !== undefined && { toolCalls: budget }),
    ...(maxTurns !== undefined && { turns: maxTurns }),
    ...(maxBudgetUsd !== undefined && { costUsd: maxBudgetUsd }),
  };
}

/** Rules of a flag in our own names; lists may be split by commas or blanks, and vendors' names are understood. */
export function rulesOf(values: readonly string[], flag: string, known: KnownTools): string[] {
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

/** Splits at commas and blanks that stand outside of brackets. */
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

import { join } from "node:path";
import type { AgentRegistry } from "../../agents/registry.ts";
import { guards } from "../../loop/guards.ts";
import { decide } from "../../permissions/decide.ts";
import { targetName } from "../../permissions/reason.ts";
import type { PermissionMode } from "../../runtime/approvals.ts";
import { chainOf } from "../../runtime/project/explain-rights.ts";
import { layersByGit } from "../../runtime/project/layers-by-git.ts";
import { type Project, refuseBrokenSettings } from "../../runtime/project/load-project.ts";
import type { Agent } from "../../schema/agent.ts";
import type { TryResult } from "../../schema/api/agent.ts";
import { messageOf } from "../../schema/error.ts";
import type { Access, Decision, Layer, Risk, Target } from "../../schema/rights.ts";
import type { AnyTool, Tool } from "../../tools/tool.ts";
import { validateInput } from "../../tools/validate-input.ts";
import { NotFound } from "../api/route.ts";
import { configured, delegationTools, needsAccount } from "./tried-tools.ts";

/** A call that nobody makes. */
export type Trial = {
  readonly project: Project;
  readonly projectDir: string;
  readonly registry: AgentRegistry;
  readonly tools: readonly AnyTool[];
  readonly mode: PermissionMode;
  /** The agent that would make it, with those above it, root first. */
  readonly line: readonly Agent[];
  readonly tool: string;
  readonly input: unknown;
};

/** What would become of a call: judged exactly as a run judges it, and never executed. */
export async function tryCall(trial: Trial): Promise<TryResult> {
  refuseBrokenSettings(trial.project);
  const chain = chainOf(trial.line, trial.project, trial.mode);
  const tool = configured(toolNamed(trial), trial.project) as Tool<unknown>;
  try {
    return await judge(trial, chain, tool);
  } finally {
    await tool.close?.();
  }
}

function toolNamed({ tools, registry, tool: name }: Trial): AnyTool {
  const all = [...tools, ...delegationTools(registry)];
  const found = all.find((tool) => tool.name === name);
  if (found) return found;
  throw new NotFound(
    `there is no tool '${name.slice(0, 80)}'`,
    `there are ${all.map((tool) => tool.name).join(", ")}`,
  );
}

async function judge(trial: Trial, chain: readonly Layer[], tool: Tool<unknown>): Promise<TryResult> {
  const answer = (
    targets: readonly Target[],
    risk: Risk | null,
    fault: string | null,
    decided?: Decision,
  ): TryResult => {
    const access = accessOf(tool, targets);
    const all = [...chain, ...closedByGit(trial, targets)];
    const layers = all.map((layer) => {
      const { verdict, rule } = decide([layer], access);
      return { layer: layer.name, verdict, rule: rule ?? null };
    });
    return {
      decision: decided ?? decide(all, access),
      risk,
      targets: targets.map(shownTarget),
      layers,
      fault,
    };
  };
  const parsed = await validateInput(tool as AnyTool, JSON.stringify(trial.input ?? {}));
  if (!parsed.ok) return answer([], null, parsed.message);
  const wrong = tool.check?.(parsed.value);
  if (wrong) return answer([], null, wrong);
  const told = await touched(tool, parsed.value, trial);
  if ("fault" in told) return answer([], null, told.fault);
  const { targets, risk, confirm } = told;
  const decision = decide([...chain, ...closedByGit(trial, targets)], accessOf(tool, targets));
  return answer(targets, risk, null, withMode(withConfirm(decision, confirm), risk, trial.mode));
}

function closedByGit({ project, projectDir }: Trial, targets: readonly Target[]): readonly Layer[] {
  const writes = targets.flatMap((target) =>
    target.kind === "path" && target.mode === "write" ? [target.path] : [],
  );
  return layersByGit(projectDir, writes, project.places);
}

type Touched = { targets: readonly Target[]; risk: Risk; confirm: string | null };

async function touched(
  tool: Tool<unknown>,
  input: unknown,
  { project, projectDir }: Trial,
): Promise<Touched | { fault: string }> {
  const roots = { projectDir, workspaceDir: join(project.places.dataDir, "sessions", "ses_trial") };
  try {
    const targets = await tool.access(input, roots);
    const risk = typeof tool.risk === "function" ? await tool.risk(input) : tool.risk;
    return { targets, risk, confirm: (await tool.confirm?.(input, roots)) ?? null };
  } catch (thrown) {
    if (!needsAccount(tool as AnyTool))
      return { fault: `the call could not be checked: ${messageOf(thrown)}` };
    const targets = addressesIn(input).map((address): Target => ({ kind: "recipient", address }));
    const confirm = tool.confirm
      ? "whom it reaches may need a person's word, which only the account itself can tell"
      : null;
    return { targets, risk: typeof tool.risk === "function" ? "high" : tool.risk, confirm };
  }
}

const MAX_ADDRESS = 320;

/** Addresses as they are written; names of contacts stay unknown without the account. */
function addressesIn(value: unknown): string[] {
  if (typeof value === "string") {
    const words = value.split(/[\s<>,;"()]/).filter((word) => word.length <= MAX_ADDRESS);
    return words.filter((word) => /^[^@]+@[^@]+\.[^@.]+$/.test(word)).map((word) => word.toLowerCase());
  }
  if (typeof value !== "object" || value === null) return [];
  return [...new Set(Object.values(value).flatMap(addressesIn))];
}

function accessOf(tool: Tool<unknown>, targets: readonly Target[]): Access {
  return { tool: tool.judgedAs ?? tool.name, groups: tool.groups, targets };
}

function withConfirm(decision: Decision, confirm: string | null): Decision {
  const reason = decision.verdict === "allow" ? guards.mustConfirm(confirm, decision) : null;
  return reason === null ? decision : { ...decision, verdict: "ask", layer: "the tool itself", reason };
}

function withMode(decision: Decision, risk: Risk, mode: PermissionMode): Decision {
  if (mode !== "plan" || risk === "low" || decision.verdict === "deny") return decision;
  return { ...decision, verdict: "deny", layer: "session", reason: "Plan mode only reads." };
}

/** Here it also matters in which folder a path lies, and what is done to it. */
function shownTarget(target: Target): string {
  if (target.kind !== "path") return targetName(target);
  return `${target.mode} ${target.root === "outside" ? target.path : `${target.root}:${target.relative || "."}`}`;
}

import { join } from "node:path";
import { buildChain } from "@retinue/builtin/explain-rights";
import { type Project, refuseBrokenSettings } from "@retinue/builtin/load-project";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import type { AgentRegistry } from "@retinue/core/agents/registry";
import { COLLECT_INPUT, DELEGATE_INPUT, DELEGATE_MANY_INPUT } from "@retinue/core/delegate/delegation-input";
import { layersByGit } from "@retinue/core/git/git-places";
import { decide, targetName } from "@retinue/core/rights/decide";
import { guards } from "@retinue/core/run/guards";
import type { TryRequest, TryResult } from "@retinue/core/schema/api/agent";
import type { DelegationBatch, DelegationRequest } from "@retinue/core/schema/delegation";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Access, Decision, Layer, PermissionMode, Risk, Target } from "@retinue/core/schema/rights";
import { type AnyTool, defineTool, type HostPlaces, type Tool } from "@retinue/core/tools/tool";
import { validateInput } from "@retinue/core/tools/validate-input";
import type { ServerDesk } from "../desk.ts";
import { NotFound } from "../http/http-errors.ts";
import { findEntry } from "./agent-roster.ts";
import { parentNamed } from "./review-agent.ts";
import { reviewedRegistry } from "./reviewed-registry.ts";
import { freshRoster, reviewInput, type SaveDesk } from "./save-agent.ts";

/** Tries a call of an agent as it is, or as a text that is not saved would make it. */
export async function tryAgentCall(
  desk: SaveDesk & Pick<ServerDesk, "tools">,
  request: TryRequest,
): Promise<TryResult> {
  const roster = await freshRoster(desk);
  const { project, projectDir } = roster;
  const entry = request.name === null ? null : findEntry(roster, request.name);
  const { path, scope } = await reviewInput(desk, roster, { text: request.text ?? null, entry });
  const format = entry?.source.format ?? "native";
  const options = { file: path, format, scope, known: project.known };
  const parsed =
    request.text === undefined
      ? { agent: entry?.agent, problems: entry?.problems ?? [] }
      : await parseAgentFile(request.text, options);
  const { agent } = parsed;
  if (!agent) {
    const error = parsed.problems.find(({ severity }) => severity === "error");
    throw new RetinueError(
      "input",
      `no call can be tried: ${error?.message ?? "there is no agent"}`,
      error?.fix ?? "name an agent, or give its text",
    );
  }
  const registry =
    request.text === undefined ? project.registry : reviewedRegistry(project, projectDir, { path, agent });
  refuseBrokenSettings(project);
  const line = [...(request.parents ?? []).map((name) => parentNamed(name, registry)), agent];
  const mode = desk.permissionMode as PermissionMode;
  const chain = buildChain(line, project, mode);
  const all = [...desk.tools, ...describeDelegationTools(registry)];
  const tool = configured(toolNamed(all, request.tool), project) as Tool<unknown>;
  try {
    return await judge({ project, projectDir, mode, chain, tool, input: request.input });
  } finally {
    await tool.close?.();
  }
}

function toolNamed(tools: readonly AnyTool[], name: string): AnyTool {
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  throw new NotFound(
    `there is no tool '${name.slice(0, 80)}'`,
    `there are ${tools.map((tool) => tool.name).join(", ")}`,
  );
}

/** A call to judge without making it. */
type Trial = {
  readonly project: Project;
  readonly projectDir: string;
  readonly mode: PermissionMode;
  /** Of the agent that would make it. */
  readonly chain: readonly Layer[];
  readonly tool: Tool<unknown>;
  readonly input: unknown;
};

/** What would become of a call: judged exactly as a run judges it, and never executed. */
async function judge(trial: Trial): Promise<TryResult> {
  const { tool, mode } = trial;
  const { targets, risk, confirm, fault } = await findTouched(trial);
  const access: Access = { tool: tool.judgedAs ?? tool.name, groups: tool.groups, targets };
  const chain = [...trial.chain, ...closedByGit(trial, targets)];
  const decision = decide(chain, access);
  return {
    decision: risk === null ? decision : withMode(withConfirm(decision, confirm), risk, mode),
    risk,
    targets: targets.map(shownTarget),
    layers: chain.map((layer) => {
      const { verdict, rule } = decide([layer], access);
      return { layer: layer.name, verdict, rule: rule ?? null };
    }),
    fault,
  };
}

function closedByGit({ project, projectDir }: Trial, targets: readonly Target[]): readonly Layer[] {
  const writes = targets.flatMap((target) =>
    target.kind === "path" && target.mode === "write" ? [target.path] : [],
  );
  return layersByGit(projectDir, writes, project.places);
}

/** What a call would touch; of one that cannot be made, only why. */
type Touched = {
  targets: readonly Target[];
  risk: Risk | null;
  confirm: string | null;
  fault: string | null;
};

const refused = (fault: string): Touched => ({ targets: [], risk: null, confirm: null, fault });

async function findTouched({ tool, input: given, project, projectDir }: Trial): Promise<Touched> {
  const parsed = await validateInput(tool as AnyTool, JSON.stringify(given ?? {}));
  if (!parsed.ok) return refused(parsed.message);
  const input: unknown = parsed.value;
  const wrong = await tool.check?.(input);
  if (wrong) return refused(wrong);
  const roots = { projectDir, workspaceDir: join(project.places.dataDir, "sessions", "ses_trial") };
  try {
    const targets = await tool.access(input, roots);
    const risk = typeof tool.risk === "function" ? await tool.risk(input) : tool.risk;
    return { targets, risk, confirm: (await tool.confirm?.(input, roots)) ?? null, fault: null };
  } catch (thrown) {
    if (!needsAccount(tool as AnyTool)) return refused(`the call could not be checked: ${messageOf(thrown)}`);
    const targets = addressesIn(input).map((address): Target => ({ kind: "recipient", address }));
    const confirm = tool.confirm
      ? "whom it reaches may need a person's approval, which only the account itself can tell"
      : null;
    return { targets, risk: typeof tool.risk === "function" ? "high" : tool.risk, confirm, fault: null };
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

/** Tools that look into a person's accounts to say whom a call reaches; a trial opens no account. */
const OF_ACCOUNTS = new Set(["email", "calendar", "contacts", "slack"]);

/** The tools of delegation as far as rights are concerned: which agent a call would reach. */
export function describeDelegationTools(registry: Pick<AgentRegistry, "get">): AnyTool[] {
  const reach = (name: string) => ({ kind: "agent" as const, agent: registry.get(name)?.name ?? name });
  const shared = { groups: ["delegation"], risk: "low", execute: refuse } as const;
  return [
    defineTool<DelegationRequest>({
      ...shared,
      name: "delegate",
      description: "Hands one task to a sub-agent and returns its result.",
      input: DELEGATE_INPUT,
      check: ({ agent }) => (agent ? null : "agent is missing"),
      access: ({ agent }) => [reach(agent)],
    }),
    defineTool<DelegationBatch>({
      ...shared,
      name: "delegate_many",
      description: "Hands several tasks to sub-agents at once.",
      input: DELEGATE_MANY_INPUT,
      check: ({ tasks }) => (tasks.every(({ agent }) => agent) ? null : "agent is missing in a task"),
      access: ({ tasks }) => [...new Set(tasks.map(({ agent }) => agent))].map(reach),
    }),
    defineTool({
      ...shared,
      name: "collect_results",
      description: "Waits for delegations that still run and returns the results of those that have ended.",
      input: COLLECT_INPUT,
    }),
  ];
}

function refuse(): Promise<string> {
  return Promise.reject(new Error("a trial never executes"));
}

/** Whether a tool would have to open an account to say what a call touches. */
function needsAccount(tool: AnyTool): boolean {
  return tool.groups.some((group) => OF_ACCOUNTS.has(group));
}

/** A tool as the settings want it, where that opens nothing. */
function configured(tool: AnyTool, { settings, places }: Project): AnyTool {
  if (needsAccount(tool) || !tool.withSettings) return tool;
  const { homeDir, dataDir, configDir } = places;
  const host: HostPlaces = { env: process.env, homeDir, dataDir, configDir };
  return tool.withSettings(settings, host);
}

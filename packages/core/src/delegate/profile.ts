import { join } from "node:path";
import type { TimeBox } from "../budget/deadline.ts";
import { pathTarget } from "../files/resolve-path.ts";
import { recordText } from "../record/record-journal.ts";
import { decide } from "../rights/decide.ts";
import { childChain, delegationLayer, toolsLayer } from "../rights/layers.ts";
import { metadataOf } from "../run/read-row.ts";
import type { Host, Profile, Run, Session } from "../run/run.ts";
import type { Agent, AgentSource, Limits } from "../schema/agent.ts";
import { checkAgentNumbers } from "../schema/check-numbers.ts";
import { RetinueError } from "../schema/error.ts";
import type { MessageRow } from "../schema/record.ts";
import type { Layer } from "../schema/rights.ts";
import { type AskedLimits, effectiveLimits } from "./effective-limits.ts";
import { findAgent, GENERAL_PURPOSE, isAgent } from "./find-agent.ts";
import { mandatoryDelegations } from "./mandatory-delegations.ts";
import { type ProjectInstructions, readInstructions } from "./project-instructions.ts";
import { resolveLimits, resolveTools } from "./resolve-tools.ts";
import { systemPrompt, worksInProject } from "./system-prompt.ts";

/** What a profile is made from. */
export type ProfileRequest = {
  agent: Agent;
  parent: Run | null;
  tools?: readonly string[] | undefined;
  limits?: Limits | undefined;
  /** A program asks for it below its parent, not the parent's model. */
  byProgram?: boolean | undefined;
  model?: string | undefined;
  /** A folder of the project that it works in. */
  cwd?: string | undefined;
  /** The person's request, if its words may make a delegation mandatory. */
  task?: string | undefined;
};

/** Freezes an agent's rights, tools, limits and prompt for a run. */
export async function createProfile(session: Session, request: ProfileRequest): Promise<Profile> {
  const { agent, parent } = request;
  const { host } = session;
  checkAgentNumbers(agent);
  const flow = host.flows[agent.flow];
  const ownLimits = resolveLimits(host, `limits of the agent '${agent.name}'`, agent.limits);
  const model = await host.resolveModel(request.model ?? agent.model, parent?.ownModel ?? null, agent);
  const chain = layersOf(session, request);
  const depth = parent ? parent.depth + 1 : 0;
  const asked: AskedLimits = {
    limits: request.limits && resolveLimits(host, "limits", request.limits),
    by: parent && !request.byProgram ? "model" : "person",
  };
  const limits = effectiveLimits({ ...agent, limits: ownLimits }, asked, host.settings);
  const maxDepth = deepest(agent, asked, parent?.maxDepth ?? session.maxDepth);
  const delegates = depth < maxDepth ? delegatesOf(host, agent, chain, parent) : [];
  const mandatory =
    request.task === undefined ? [] : mandatoryDelegations(request.task, { agent, delegates });
  const visible = new Set(host.guards.visibleTools(chain, [...host.tools.values()]));
  const tools = new Map([...host.tools].filter(([name]) => visible.has(name)));
  const { redactor } = host;
  const cwd = request.cwd === undefined ? parent?.cwd : join(session.projectDir, request.cwd);
  const isHere = worksInProject(tools);
  const instructions = isHere ? await findInstructions(session, chain, cwd) : null;
  const system = redactor.redact(
    systemPrompt({
      agent,
      flow,
      depth,
      maxDepth,
      parent: parent?.agent ?? null,
      limits: { ...limits, timeoutMs: tightenTime(limits.timeoutMs, parent?.timeBox ?? null) },
      tools,
      delegates,
      idle: new Set(delegates.filter((one) => isIdle(host, one))),
      mandatory,
      startedAtMs: session.startedAtMs,
      projectDir: session.projectDir,
      workspaceDir: parent?.workspaceDir ?? session.workspaceDir,
      git: isHere ? await session.gitState() : null,
      instructions,
      person: parent ? null : host.person(session.projectDir),
      nowMs: host.clock.wallMs(),
      zone: host.zone,
    }),
  );
  const isOfProject =
    instructions !== null || [agent, ...delegates].some(({ source }) => source.scope === "project");
  return {
    agent,
    flow,
    model,
    chain,
    tools,
    limits,
    delegates,
    maxDepth,
    mandatory,
    system,
    promptFiles: [
      ...(agent.source.file === undefined ? [] : [agent.source.file]),
      ...(instructions ? [join(session.projectDir, instructions.file)] : []),
    ],
    isOfProject,
    systemPromptId: recordText(host.record, system),
    snapshotId: recordText(
      host.record,
      JSON.stringify(
        redactor.redactJson({
          agent,
          chain,
          limits,
          tools: [...tools.keys()],
          delegates: delegates.map((delegate) => delegate.name),
          isOfProject,
          maxDepth,
          mandatory,
          model: request.model ?? agent.model,
        } satisfies ProfileSnapshot),
      ),
    ),
  };
}

/** What the project tells its agents, if this one may read it. */
async function findInstructions(
  session: Session,
  chain: readonly Layer[],
  cwd: string | undefined,
): Promise<ProjectInstructions | null> {
  const found = await readInstructions(session.projectDir, cwd);
  if (!found) return null;
  const target = await pathTarget(found.file, "read", session);
  const { verdict } = decide(chain, { tool: "read", groups: ["filesystem"], targets: [target] });
  return verdict === "allow" ? found : null;
}

/** The time that a run has at most, within what was given to the whole tree. */
function tightenTime(timeoutMs: number, box: TimeBox | null): number {
  return box === null ? timeoutMs : tightenTime(Math.min(timeoutMs, box.lengthMs), box.outer);
}

/** Whether an agent has nothing to work on: of its tools, or of the agents it leads, none is set up. */
export function isIdle(host: Host, { tools, subagents }: Agent): boolean {
  const held = (tools ?? []).flatMap((name) => host.tools.get(name) ?? []);
  if (held.length > 0) return held.every((tool) => tool.isSetUp === false);
  const led = (subagents?.allow ?? []).flatMap((name) => host.registry.get(name) ?? []);
  return led.length > 0 && (tools?.length ?? 1) === 0 && led.every((one) => isIdle(host, one));
}

/** How deep the agents below may delegate; never deeper than the session or the parent may. */
function deepest({ limits }: Agent, asked: AskedLimits, above: number): number {
  const given = asked.limits?.depth;
  const own = asked.by === "person" && given !== undefined ? given : limits.depth;
  return Math.min(above, own ?? above, given ?? above);
}

/** What the record keeps of a profile. */
export type ProfileSnapshot = Pick<Profile, "agent" | "chain" | "limits" | "maxDepth" | "mandatory"> & {
  tools: readonly string[];
  delegates: readonly string[];
  /** Absent in older records. */
  isOfProject?: boolean;
  /** The model's name as it was asked for. */
  model: string;
};

/** The profile of a recorded run: rights, limits and prompt as they were, whatever the agent's file says now. */
export async function restoreProfile(host: Host, row: MessageRow, parent: Run | null): Promise<Profile> {
  const snapshotId = String(metadataOf(row).snapshot);
  const kept = await host.record.readText(snapshotId);
  const system = await host.record.readText(row.system_prompt_id ?? "");
  if (kept === undefined || system === undefined) {
    throw new RetinueError(
      "store",
      `the record lacks the definition of run ${row.run_id}, so it cannot go on`,
    );
  }
  const snapshot = JSON.parse(kept) as ProfileSnapshot;
  const { name } = snapshot.agent;
  if (host.registry.isDisabled(name))
    throw new RetinueError(
      "input",
      `run ${row.run_id} cannot go on: ${host.registry.unknownAgentMessage(name)}`,
      "take it out of disabledAgents, or cancel the session",
    );
  const inherited = parent?.ownModel ?? null;
  const recorded = await host
    .resolveModel(row.model_id ?? snapshot.model, inherited, snapshot.agent)
    .catch(() => null);
  return {
    ...snapshot,
    flow: host.flows[snapshot.agent.flow],
    mandatory: snapshot.mandatory ?? [],
    model: recorded ?? (await host.resolveModel(snapshot.model, inherited, snapshot.agent)),
    tools: new Map([...host.tools].filter(([name]) => snapshot.tools.includes(name))),
    delegates: snapshot.delegates
      .map((name) => findAgent(host.registry, name, snapshot.agent))
      .filter(isAgent),
    system,
    promptFiles: snapshot.agent.source.file === undefined ? [] : [snapshot.agent.source.file],
    isOfProject: snapshot.isOfProject ?? true,
    systemPromptId: row.system_prompt_id ?? "",
    snapshotId,
  };
}

function layersOf(session: Session, request: ProfileRequest): readonly Layer[] {
  const chain = layersWith(session, request, undefined);
  if (!request.tools) return chain;
  return layersWith(
    session,
    request,
    resolveTools(session.host, { agent: request.agent, chain }, request.tools),
  );
}

function layersWith(
  { host, base }: Session,
  { agent, parent }: ProfileRequest,
  tools: readonly string[] | undefined,
): readonly Layer[] {
  if (parent)
    return childChain(parent.chain, {
      parent: parent.agent,
      child: agent,
      narrowing: tools,
      home: host.homeDir,
    });
  const own = toolsLayer(agent, host.homeDir);
  return tools ? [...base, delegationLayer(tools, agent.name, host.homeDir), own] : [...base, own];
}

/** In which order agents are listed, by who defined them. */
const NEARNESS: Readonly<Record<AgentSource["scope"], number>> = { project: 0, code: 0, user: 1, builtin: 2 };

/** The agents that an agent may delegate to under a chain of rights; the project's and the person's own come first. */
export function delegatesOf(host: Host, agent: Agent, chain: readonly Layer[], parent: Run | null): Agent[] {
  if (!agent.subagents) return [];
  const above = new Set(parent ? [...parent.ancestors, parent.agent.name] : []);
  above.add(agent.name);
  const general = findAgent(host.registry, GENERAL_PURPOSE, agent);
  const others = host.registry
    .list()
    .filter((candidate) => candidate.name !== GENERAL_PURPOSE)
    .toSorted((one, other) => NEARNESS[one.source.scope] - NEARNESS[other.source.scope]);
  return [...others, ...(isAgent(general) ? [general] : [])].filter((candidate) => {
    if (above.has(candidate.name) && !agent.subagents?.recursive) return false;
    const access = {
      tool: "delegate",
      groups: ["delegation"],
      targets: [{ kind: "agent" as const, agent: candidate.name }],
    };
    return decide(chain, access).verdict !== "deny";
  });
}

import { checkGraph } from "../../scheduler/task-graph.ts";
import type { DelegationBatch, DelegationRequest } from "../../schema/delegation.ts";
import { messageOf } from "../../schema/error.ts";
import type { RunError } from "../../schema/result.ts";
import {
  type AnyTool,
  defineTool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutput,
} from "../../tools/tool.ts";
import type { Children } from "./children.ts";
import {
  COLLECT_INPUT,
  type CollectInput,
  DELEGATE_INPUT,
  DELEGATE_MANY_INPUT,
  ROLE_INPUT,
  type RoleInput,
  TASK_INPUT,
  type TaskInput,
} from "./delegation-input.ts";
import { deliver } from "./deliver.ts";
import { isAgent } from "./find-agent.ts";
import { runBatch } from "./run-batch.ts";

/** The delegation tools of one run, by the name a model may call them. Aliases are understood but not offered. */
export function delegationTools(children: Children): [string, AnyTool][] {
  const names = children.delegates.map((agent) => agent.name).join(", ");
  const delegate = (input: DelegationRequest, context: ToolContext) => delegateOne(children, input, context);
  return [
    ["delegate", oneTask<DelegationRequest>(children, names, DELEGATE_INPUT, (input) => input, delegate)],
    ["delegate_to_agent", oneTask<RoleInput>(children, names, ROLE_INPUT, fromRole, delegate)],
    ["Task", oneTask<TaskInput>(children, names, TASK_INPUT, fromTask, delegate)],
    ["delegate_many", manyTasks(children, names)],
    ["collect_results", collectResults(children)],
  ];
}

const SHARED = { groups: ["delegation"], risk: "low", replay: "safe", isPublic: true } as const;

function oneTask<Input>(
  children: Children,
  names: string,
  input: ToolDefinition<Input>["input"],
  toRequest: (input: Input) => DelegationRequest,
  run: (request: DelegationRequest, context: ToolContext) => Promise<ToolOutput>,
): AnyTool {
  return defineTool<Input>({
    ...SHARED,
    name: "delegate",
    offered: children.delegates.length > 0,
    description: `Hands one task to a sub-agent and returns its result. Sub-agents: ${names}.`,
    input,
    delegates: "self-recorded",
    check: (value) => checkRequests(children, [toRequest(value)]),
    access: (value) => [agentTarget(children, toRequest(value).agent)],
    execute: (value, context) => run(toRequest(value), context),
  });
}

function manyTasks(children: Children, names: string): AnyTool {
  return defineTool<DelegationBatch>({
    ...SHARED,
    name: "delegate_many",
    offered: children.delegates.length > 0,
    description: `Hands several tasks to sub-agents at once; a task waits for those it depends on and receives their results. Sub-agents: ${names}.`,
    input: DELEGATE_MANY_INPUT,
    delegates: "recorded",
    check: ({ tasks }) => checkRequests(children, tasks) ?? checkTasks({ tasks }),
    access: ({ tasks }) =>
      [...new Set(tasks.map((task) => task.agent))].map((name) => agentTarget(children, name)),
    execute: (batch, context) => runBatch(children, batch, context),
  });
}

function collectResults(children: Children): AnyTool {
  return defineTool<CollectInput>({
    ...SHARED,
    name: "collect_results",
    polls: true,
    offered: children.delegates.length > 0,
    description: "Waits for delegations that still run and returns the results of those that have ended.",
    input: COLLECT_INPUT,
    delegates: "recorded",
    execute: async ({ ids, wait = "any" }) => {
      const unknown = (ids ?? []).filter((id) => !children.delegations.knows(id));
      if (unknown.length > 0) return { text: `there is no delegation ${unknown.join(", ")}`, isError: true };
      const open = children.delegations.undelivered(ids);
      if (open.length === 0) return { text: "nothing is open: every result has been delivered" };
      await children.untilEnded(open, wait === "all" ? "all" : "one");
      return deliver(children, open, "ended");
    },
  });
}

async function delegateOne(
  children: Children,
  request: DelegationRequest,
  context: ToolContext,
): Promise<ToolOutput> {
  const found = children.find(request.agent);
  const refusal = isAgent(found) ? children.admit(found) : found;
  if (refusal) return { text: errorText(refusal), isError: true };
  const delegation = children.start(request, { callId: context.callId, rowId: context.rowId });
  const first = children.mode === "parallel_streaming" ? [children.delegations.firstOfTurn()] : [];
  await children.untilEnded([delegation], "one", first);
  const output = deliver(children, [delegation], "all");
  return { ...output, recorded: !delegation.result || children.hasBegun(delegation.id) };
}

/** An error of delegation as its caller sees it. */
function errorText({ type, message }: RunError): string {
  return JSON.stringify({ error: { type, message } });
}

function checkRequests(children: Children, requests: readonly DelegationRequest[]): string | null {
  for (const { agent, fromResults } of requests) {
    const found = children.find(agent);
    if (!isAgent(found)) return errorText(found);
    const missing = children.delegations.missingResults(fromResults ?? []);
    if (missing) return errorText({ type: "params", message: missing, recoverable: true });
  }
  return null;
}

function checkTasks({ tasks }: Pick<DelegationBatch, "tasks">): string | null {
  try {
    checkGraph(tasks);
    return null;
  } catch (thrown) {
    return JSON.stringify({ error: { type: "params", message: messageOf(thrown) } });
  }
}

function agentTarget(children: Children, name: string): { kind: "agent"; agent: string } {
  const found = children.find(name);
  return { kind: "agent", agent: isAgent(found) ? found.name : name };
}

/** What a call of one of the tools for a single task asks for; the input was valid when the call was made. */
export function requestFrom(tool: string, input: unknown): DelegationRequest {
  if (tool === "delegate_to_agent") return fromRole(input as RoleInput);
  return tool === "Task" ? fromTask(input as TaskInput) : (input as DelegationRequest);
}

function fromRole(input: RoleInput): DelegationRequest {
  return {
    agent: input.role,
    task: input.task,
    ...(input.context_files && { contextFiles: input.context_files }),
    ...(input.success_criteria && { successCriteria: input.success_criteria }),
  };
}

function fromTask(input: TaskInput): DelegationRequest {
  return {
    agent: input.agent ?? input.subagent_type ?? "",
    task: input.task_description ?? input.prompt ?? "",
  };
}

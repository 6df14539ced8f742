import { checkGraph } from "../budget/task-graph.ts";
import type { DelegationBatch, DelegationRequest } from "../schema/delegation.ts";
import { messageOf } from "../schema/error.ts";
import type { RunError } from "../schema/result.ts";
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from "../tools/tool.ts";
import type { Children } from "./children.ts";
import {
  acceptBatch,
  acceptDelegation,
  COLLECT_INPUT,
  type CollectInput,
  DELEGATE_INPUT,
  DELEGATE_MANY_INPUT,
  DELEGATE_MANY_TOLD,
  DELEGATE_TOLD,
  REQUEST_WORDS,
} from "./delegation-input.ts";
import { deliver } from "./deliver.ts";
import { GENERAL_PURPOSE, isAgent } from "./find-agent.ts";
import { runBatch } from "./run-batch.ts";

/** The delegation tools of one run. */
export function delegationTools(children: Children): AnyTool[] {
  return [oneTask(children), manyTasks(children), collectResults(children)];
}

const SHARED = {
  groups: ["delegation"],
  risk: "low",
  replay: "safe",
  isPublic: true,
  exact: ["limits"],
} as const;

function oneTask(children: Children): AnyTool {
  return defineTool<DelegationRequest>({
    ...SHARED,
    name: "delegate",
    offered: children.delegates.length > 0,
    description: "Hands one task to a sub-agent and returns its result.",
    input: DELEGATE_INPUT,
    told: DELEGATE_TOLD,
    untold: ["lastMessages"],
    words: REQUEST_WORDS,
    accept: (input, ignore) => nameAgent(children, acceptDelegation(input, ignore)),
    delegates: "self-recorded",
    check: (request) => checkRequests(children, [request]),
    access: ({ agent }) => [agentTarget(children, agent)],
    execute: (request, context) => delegateOne(children, request, context),
  });
}

function manyTasks(children: Children): AnyTool {
  return defineTool<DelegationBatch>({
    ...SHARED,
    name: "delegate_many",
    offered: children.delegates.length > 0,
    description: "Hands several tasks to sub-agents at once; a task waits for those it depends on.",
    input: DELEGATE_MANY_INPUT,
    told: DELEGATE_MANY_TOLD,
    words: REQUEST_WORDS,
    accept: (input, ignore) => {
      const batch = acceptBatch(input, ignore);
      if (!Array.isArray(batch.tasks)) return batch;
      return { ...batch, tasks: batch.tasks.map((task: unknown) => nameAgent(children, task)) };
    },
    delegates: "recorded",
    check: ({ tasks }) => checkTasks({ tasks }) ?? checkRequests(children, tasks),
    access: ({ tasks }) => {
      const names = [...new Set(tasks.flatMap((task) => task.agent ?? []))];
      // A task for an agent that cannot be used is answered by itself; where none can, the rules answer.
      const usable = names.filter((name) => children.refuseAgent(name) === null);
      return (usable.length > 0 ? usable : names).map((name) => agentTarget(children, name));
    },
    execute: (batch, context) => runBatch(children, batch, context),
  });
}

function collectResults(children: Children): AnyTool {
  return defineTool<CollectInput>({
    ...SHARED,
    name: "collect_results",
    polls: true,
    // Only who has something to collect must know of it.
    offered: () => children.mode === "parallel_streaming" || children.delegations.undelivered().length > 0,
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

/** Who names no agent means general-purpose, if it can be asked. */
function nameAgent<Request>(children: Children, request: Request): Request {
  if (typeof request !== "object" || request === null || "agent" in request) return request;
  const isThere = children.delegates.some(({ name }) => name === GENERAL_PURPOSE);
  return isThere ? { ...request, agent: GENERAL_PURPOSE } : request;
}

/** What is wrong with all of some requests; where one is right, the others are answered one by one. */
function checkRequests(children: Children, requests: readonly Partial<DelegationRequest>[]): string | null {
  const mistakes = requests.flatMap((request) => children.findMistake(request) ?? []);
  const [first] = mistakes;
  if (!first || mistakes.length < requests.length) return null;
  const message = [...new Set(mistakes.map((one) => one.message))].join("; ");
  return errorText({ ...first, message });
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

import { CONTEXT_MODES, CONTEXT_WORDS, EXECUTION_MODES } from "../schema/agent.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { LARGEST } from "../schema/number-range.ts";
import type { AcceptInput } from "../tools/tool.ts";

const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
const positive = { type: "number", exclusiveMinimum: 0, maximum: LARGEST };
const whole = (minimum: number) => ({ type: "integer", minimum, maximum: LARGEST });

const LIMITS: JsonSchema = {
  type: "object",
  description: "Tighter limits than its own.",
  properties: {
    turns: whole(1),
    toolCalls: whole(0),
    minutes: positive,
    tokens: whole(1),
    costUsd: positive,
    contextChars: whole(1),
    spawns: whole(0),
  },
  additionalProperties: false,
};

const REQUEST = {
  agent: { type: "string", minLength: 1 },
  task: { type: "string", minLength: 1 },
  context: {
    type: "string",
    enum: CONTEXT_WORDS,
    description:
      "What it sees of this conversation: task_only (default) nothing; summary; selective the last messages; full all of it, with results cut at 20,000 characters. Never your instructions.",
  },
  contextFiles: texts("Files it gets, and may change without reading them again."),
  fromResults: texts("run_ids of delegations whose results it gets."),
  lastMessages: { ...whole(1), description: "With selective; 6 by default." },
  successCriteria: { type: "string" },
  deliverables: {
    type: "array",
    items: {
      type: "object",
      properties: { file: { type: "string", minLength: 1 } },
      required: ["file"],
      additionalProperties: false,
    },
  },
  tools: texts("Only these of its tools."),
  limits: LIMITS,
};

/** Input of `delegate`; that an agent is missing is said with the names of those there are. */
export const DELEGATE_INPUT: JsonSchema = {
  type: "object",
  properties: REQUEST,
  required: ["task"],
  additionalProperties: false,
};

/** What a model is told of it: the same in fewer words. */
export const DELEGATE_TOLD: JsonSchema = {
  ...DELEGATE_INPUT,
  required: ["agent", "task"],
  properties: {
    ...REQUEST,
    context: { ...REQUEST.context, enum: CONTEXT_MODES },
    deliverables: texts("Files it must leave: globs in the workspace, or project:GLOB."),
    limits: {
      type: "object",
      description: "Tighter ones: turns, toolCalls, minutes, tokens, costUsd, contextChars, spawns.",
    },
  },
};

const ITEM = {
  id: { type: "string", minLength: 1 },
  dependsOn: texts("ids that must succeed first; it gets their results."),
};

const createBatchSchema = (item: object): JsonSchema => ({
  type: "object",
  properties: {
    tasks: { type: "array", minItems: 1, items: item },
    mode: { type: "string", enum: EXECUTION_MODES, description: "How they run; your usual mode by default." },
    onFailure: {
      type: "string",
      enum: ["continue", "stop"],
      description: "For the rest, when a task fails.",
    },
  },
  required: ["tasks"],
  additionalProperties: false,
});

/** Input of `delegate_many`. */
export const DELEGATE_MANY_INPUT: JsonSchema = createBatchSchema({
  type: "object",
  properties: { ...ITEM, ...REQUEST },
  required: ["task"],
  additionalProperties: false,
});

/** What a model is told of it, beside `delegate`. */
export const DELEGATE_MANY_TOLD: JsonSchema = createBatchSchema({
  type: "object",
  description: "All fields of delegate, and:",
  properties: { ...ITEM, agent: { type: "string" }, task: { type: "string" } },
  required: ["agent", "task"],
});

/** Input of `collect_results`. */
export type CollectInput = { ids?: string[]; wait?: "any" | "all" };
export const COLLECT_INPUT: JsonSchema = {
  type: "object",
  properties: {
    ids: texts("run_ids or task ids; all that are open by default."),
    wait: { type: "string", enum: ["any", "all"], description: "any (default): until the next one ends." },
  },
  additionalProperties: false,
};

/** The words of Claude Code (`subagent_type`, `prompt`) and of role-based systems (`role`) for a delegation. */
export const REQUEST_WORDS = {
  role: "agent",
  subagent_type: "agent",
  subagent: "agent",
  agent_type: "agent",
  agent_name: "agent",
  prompt: "task",
  task_description: "task",
  instructions: "task",
  message: "task",
  context_files: "contextFiles",
  success_criteria: "successCriteria",
  delegations: "tasks",
};
/** What other systems let a caller choose, and the agent's own definition chooses here. */
const CHOSEN_BY_AGENT = ["model", "run_in_background"];

/** Takes a delegation as other systems write it, with a few words on it, a model, and files by their names. */
export const acceptDelegation: AcceptInput = (input, ignore) => {
  const { description, ...request } = { ...input };
  for (const key of CHOSEN_BY_AGENT) {
    if (!Object.hasOwn(request, key)) continue;
    delete request[key];
    ignore(key);
  }
  const { deliverables } = request;
  if (Array.isArray(deliverables))
    request.deliverables = deliverables.map((one: unknown) =>
      typeof one === "string" ? { file: one } : one,
    );
  // A few words on the task, unless they are all there is.
  return request.task === undefined && description !== undefined
    ? { ...request, task: description }
    : request;
};

/** Takes a batch of such delegations; a task without an id gets its number. */
export const acceptBatch: AcceptInput = (input, ignore) => {
  if (!Array.isArray(input.tasks)) return input;
  const tasks = input.tasks.map((task: unknown, index) => {
    if (typeof task !== "object" || task === null) return task;
    return { id: `task-${index + 1}`, ...acceptDelegation(task as Record<string, unknown>, ignore) };
  });
  return { ...input, tasks };
};

import { CONTEXT_WORDS, EXECUTION_MODES } from "../../schema/agent.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { LARGEST } from "../../schema/number-range.ts";
import { renameKeys } from "../../tools/accept-words.ts";
import type { AcceptInput } from "../../tools/tool.ts";

const text = (description: string) => ({ type: "string", minLength: 1, description });
const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
const positive = { type: "number", exclusiveMinimum: 0, maximum: LARGEST };
const whole = (minimum: number) => ({ type: "integer", minimum, maximum: LARGEST });

const LIMITS: JsonSchema = {
  type: "object",
  description: "Tighter limits for this task; they can only narrow.",
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
  agent: text("Name of the sub-agent."),
  task: text(
    "What it should achieve, complete in itself: it sees nothing of this conversation unless context says so.",
  ),
  context: {
    type: "string",
    enum: CONTEXT_WORDS,
    description:
      "What it sees of this conversation; task_only by default. full also has the results of earlier sub-agents.",
  },
  contextFiles: texts("Files whose content it receives."),
  fromResults: texts("run_ids of finished delegations whose results it receives."),
  lastMessages: { ...whole(1), description: "With context selective: the last N messages." },
  successCriteria: { type: "string", description: "How to tell that the task succeeded." },
  deliverables: {
    type: "array",
    description: "Files it must leave, as globs in the workspace or with the prefix project:.",
    items: {
      type: "object",
      properties: { file: text("Glob.") },
      required: ["file"],
      additionalProperties: false,
    },
  },
  tools: texts("Only these of its tools."),
  limits: LIMITS,
};

/** Input of `delegate`. */
export const DELEGATE_INPUT: JsonSchema = {
  type: "object",
  properties: REQUEST,
  required: ["agent", "task"],
  additionalProperties: false,
};

/** Input of `delegate_many`. */
export const DELEGATE_MANY_INPUT: JsonSchema = {
  type: "object",
  properties: {
    tasks: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          id: text("Your name for the task."),
          dependsOn: texts("ids that must succeed first; their results are handed over."),
          ...REQUEST,
        },
        required: ["agent", "task"],
        additionalProperties: false,
      },
    },
    mode: {
      type: "string",
      enum: EXECUTION_MODES,
      description: "How the tasks run; the agent's own mode by default.",
    },
    onFailure: {
      type: "string",
      enum: ["continue", "stop"],
      description: "What happens to the rest when a task fails.",
    },
  },
  required: ["tasks"],
  additionalProperties: false,
};

/** Input of `collect_results`. */
export type CollectInput = { ids?: string[]; wait?: "any" | "all" };
export const COLLECT_INPUT: JsonSchema = {
  type: "object",
  properties: {
    ids: {
      type: "array",
      items: { type: "string" },
      description: "run_ids or task ids; all that are open by default.",
    },
    wait: { type: "string", enum: ["any", "all"], description: "any (default): until the next one ends." },
  },
  additionalProperties: false,
};

const REQUEST_WORDS = {
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
};
/** What other systems let a caller choose, and the agent's own definition chooses here. */
const CHOSEN_BY_AGENT = ["model", "run_in_background"];

/** Takes a delegation in the words of Claude Code (`subagent_type`, `prompt`) or of role-based systems (`role`). */
export const acceptDelegation: AcceptInput = (input, ignore) => {
  const { description, ...request } = { ...renameKeys(input, REQUEST_WORDS) };
  for (const key of CHOSEN_BY_AGENT) {
    if (!Object.hasOwn(request, key)) continue;
    delete request[key];
    ignore(key);
  }
  // A few words on the task, unless they are all there is.
  return request.task === undefined && description !== undefined
    ? { ...request, task: description }
    : request;
};

/** Takes a batch of such delegations; a task without an id gets its number. */
export const acceptBatch: AcceptInput = (input, ignore) => {
  const batch = renameKeys(input, { delegations: "tasks" });
  if (!Array.isArray(batch.tasks)) return batch;
  const tasks = batch.tasks.map((task: unknown, index) => {
    if (typeof task !== "object" || task === null) return task;
    return { id: `task-${index + 1}`, ...acceptDelegation(task as Record<string, unknown>, ignore) };
  });
  return { ...batch, tasks };
};

import { CONTEXT_WORDS, EXECUTION_MODES } from "../schema/agent.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { ERROR_TYPES } from "../schema/result.ts";

const names = (description: string): JsonSchema => ({
  description,
  oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
});
const whole = (minimum: number, description: string): JsonSchema => ({
  type: "integer",
  minimum,
  description,
});

const limits: JsonSchema = {
  type: "object",
  description: "Upper bounds; what is left out comes from the settings.",
  additionalProperties: false,
  properties: {
    turns: whole(1, "Model calls of one run."),
    toolCalls: whole(0, "Tool calls of one run."),
    perTool: {
      type: "object",
      description: "Calls of one run by tool name.",
      additionalProperties: { type: "integer", minimum: 0 },
    },
    contextChars: whole(1, "Characters of one run's history."),
    minutes: { type: "number", exclusiveMinimum: 0, description: "Time until the run must end." },
    tokens: whole(1, "Tokens of the run and everything below it."),
    costUsd: { type: "number", minimum: 0, description: "US dollars of the run and everything below it." },
    spawns: whole(0, "Runs below this one, at any depth."),
    depth: whole(0, "Levels of delegation below this run."),
  },
};

const subagents: JsonSchema = {
  type: "object",
  description: "Whom this agent may delegate to, and how. Without it the agent works alone.",
  additionalProperties: false,
  properties: {
    allow: names("Agents it may delegate to; `*` for all."),
    deny: names("Agents it may never delegate to."),
    execution: {
      enum: EXECUTION_MODES,
      description: "How several delegations of one turn run.",
      default: "parallel",
    },
    maxConcurrent: { ...whole(1, "Delegations running at once."), default: 5 },
    recursive: {
      type: "boolean",
      description: "Whether an agent already in the chain may be called again.",
      default: false,
    },
  },
};

const retry: JsonSchema = {
  type: "object",
  description: "When a failed delegation is tried again.",
  additionalProperties: false,
  properties: {
    attempts: { ...whole(0, "How many times it is tried again."), maximum: 10, default: 1 },
    on: {
      type: "array",
      items: { enum: ERROR_TYPES },
      description: "Error types that are worth another try.",
    },
    backoffMs: { type: "number", minimum: 0, description: "Wait before the first retry.", default: 1000 },
  },
};

const deliverable: JsonSchema = {
  oneOf: [
    { type: "string", description: "A file glob." },
    {
      type: "object",
      required: ["file"],
      additionalProperties: false,
      properties: {
        file: { type: "string", description: "Glob in the workspace, or in the project with `project:`." },
        schema: { type: "object", description: "JSON Schema of every matching file." },
        before: names("Tools that wait until this file is there and valid."),
      },
    },
    {
      type: "object",
      required: ["command"],
      additionalProperties: false,
      properties: { command: { type: "string", description: "A command that must exit with 0." } },
    },
  ],
};

const triggers: JsonSchema = {
  description: "Words that mark such a request.",
  oneOf: [
    { type: "string" },
    {
      type: "array",
      items: {
        oneOf: [
          { type: "string" },
          {
            type: "object",
            required: ["word"],
            additionalProperties: false,
            properties: {
              word: names("The word, or several that have the rest in common."),
              with: names("One of these must be in the request too."),
              not: names("None of these may be in the request."),
            },
          },
        ],
      },
    },
  ],
};

/** JSON Schema (draft-07) of an agent file's frontmatter, for editors. Keys are also read in snake_case. */
export const AGENT_FRONTMATTER_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Retinue agent",
  type: "object",
  required: ["description"],
  properties: {
    name: {
      type: "string",
      description: "What the agent is called; its id is made from it. Default: the file's name.",
    },
    id: { type: "string", description: "The id by which it is addressed, if it differs from the name." },
    aliases: names("Other names it answers to."),
    description: { type: "string", minLength: 1, description: "When to delegate to this agent." },
    model: {
      type: "string",
      description: "`inherit`, an alias such as `fast`, or `provider/model-id`.",
      default: "inherit",
    },
    tools: names(
      "What it may use: names, groups, or rules such as `write(test/**)`. Left out: all the parent grants.",
    ),
    askTools: names("What it may use only after asking a person."),
    disallowedTools: names("What it may never use."),
    grants: names("What it may pass on to sub-agents. Default: the same as tools."),
    subagents,
    context: {
      enum: CONTEXT_WORDS,
      description: "How much of the parent's conversation it receives.",
      default: "task_only",
    },
    limits,
    temperature: { type: "number", minimum: 0, maximum: 2, description: "Passed to the model." },
    maxOutputTokens: {
      type: "integer",
      minimum: 1,
      description: "Tokens of one reply, at most as many as the model can give.",
    },
    delegation: {
      type: "object",
      description: "Requests that must go to this agent.",
      additionalProperties: false,
      properties: {
        mandatory: { type: "boolean", description: "Whether such a request must be delegated to it." },
        triggers,
      },
    },
    retry,
    deliverables: { description: "What a run must leave behind.", type: "array", items: deliverable },
    verify: {
      enum: ["reviewer"],
      description: "Who judges success criteria that no command among the deliverables can tell.",
    },
    workspace: {
      enum: ["shared", "isolated"],
      description: "Whether it works on a copy.",
      default: "shared",
    },
    flow: {
      enum: ["loop", "intent"],
      description: "A free loop, or the three phases of an intent.",
      default: "loop",
    },
    display: {
      type: "object",
      description: "How it is shown.",
      additionalProperties: false,
      properties: {
        name: { type: "string", description: "Name shown to people." },
        icon: { type: "string", description: "An emoji." },
        color: { type: "string", description: "A colour name or #rrggbb." },
      },
    },
    enabled: { type: "boolean", description: "Whether it can be reached at all.", default: true },
  },
};

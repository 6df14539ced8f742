import type { JsonSchema } from "./json-schema.ts";
import {
  AMOUNT,
  AT_LEAST_ONE,
  BACKOFF_MS,
  COUNT,
  type NumberRange,
  POSITIVE,
  RETRIES,
  TEMPERATURE,
} from "./number-range.ts";
import { ERROR_TYPES } from "./result.ts";

/** How much of the parent's conversation a child receives. */
export type ContextMode = "task_only" | "summary" | "full" | "selective";
export const CONTEXT_MODES = ["task_only", "summary", "full", "selective"] as const satisfies ContextMode[];
/** A context mode as people and models write it; `full_history` is another word for `full`. */
export type ContextWord = ContextMode | "full_history";
export const CONTEXT_WORDS = [...CONTEXT_MODES, "full_history"] as const satisfies ContextWord[];

/** How several delegations of one turn or batch run. */
export type ExecutionMode = "parallel" | "parallel_streaming" | "sequential";
export const EXECUTION_MODES = [
  "parallel",
  "parallel_streaming",
  "sequential",
] as const satisfies ExecutionMode[];

/** Whose agent files a definition is written in. */
export type AgentFormat = "native" | "claude" | "opencode" | "copilot" | "gemini" | "code" | "settings";

/**
 * What a value is. It decides how the value is read, written, checked by editors and changed in the form. A `default` is what
 * the agent has without it; a kind without one leaves it open.
 */
export type ValueKind =
  | { readonly is: "text"; readonly default?: string }
  /** A list of names, or a line with commas; `words` are the only ones there are. */
  | { readonly is: "names"; readonly words?: readonly string[]; readonly default?: readonly string[] }
  /** Rules on tools. */
  | { readonly is: "rules"; readonly default?: readonly string[] }
  /** A number outside of its range makes the agent unusable, since it may be a limit; one that `isHint` is left out instead. */
  | { readonly is: "number"; readonly range: NumberRange; readonly default?: number; readonly isHint?: true }
  /** One of a few words, with other words for some of them; `bad` is taken for anything else. */
  | {
      readonly is: "choice";
      readonly words: readonly string[];
      readonly also?: Readonly<Record<string, string>>;
      readonly default?: string;
      readonly bad?: string;
    }
  | { readonly is: "flag"; readonly default: boolean; readonly bad: boolean }
  /** A map with these keys; where `isStrict`, another key makes the agent unusable. One that `isOptional` may be absent. */
  | {
      readonly is: "map";
      readonly parts: Readonly<Record<string, FieldPart>>;
      readonly example: string;
      readonly isStrict?: true;
      readonly isOptional?: true;
      /** The part that a bare value stands for. */
      readonly short?: string;
    }
  /** Something with a reader of its own. */
  | { readonly is: "own"; readonly schema: JsonSchema; readonly default?: readonly unknown[] };

/** A control of the form in the browser. Which one it is follows from the kind of the value. */
export type FormControl = {
  /** The section of the form that it stands in. */
  readonly section?: FormSectionName;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  /** The name of the value among those of the form, if it is another one. */
  readonly name?: string;
  /** What may be chosen, in words: label, and what it means. */
  readonly options?: Readonly<Record<string, readonly [label: string, about?: string]>>;
  /** Proposals for a text. */
  readonly proposals?: readonly string[];
};

/** The sections of the form, in order. */
export const FORM_SECTIONS = ["Identity", "Model", "Rights", "Sub-agents", "Limits", "Work"] as const;

/** Name of a section of the form. */
export type FormSectionName = (typeof FORM_SECTIONS)[number];

/** One value, and what editors and the documentation say about it. */
export type FieldPart = {
  readonly about: string;
  readonly kind: ValueKind;
  /** What holds without it, for the documentation; otherwise the default of its kind. */
  readonly without?: string;
  /** Another spelling of its key. */
  readonly spelling?: string;
  readonly form?: FormControl;
};

/** A key of other programs that means a field of ours, or a part of one. */
export type VendorKey = {
  readonly part?: string;
  /** Their values with ours; otherwise theirs is ours. */
  readonly values?: readonly (readonly [theirs: unknown, ours: unknown])[];
  /** Where a file of these programs says nothing yet, the value is written under this key. */
  readonly addedIn?: readonly AgentFormat[];
  /** These programs read a number in quotes as that number; the others refuse it. */
  readonly isQuotedIn?: readonly AgentFormat[];
  /** How a broken value is repaired. */
  readonly is?: "text" | "names";
};

/** One field of an agent file. */
export type AgentField = FieldPart & {
  readonly vendorKeys?: Readonly<Record<string, VendorKey>>;
  /** It holds or restricts rights: a duplicate or a broken one makes the agent unusable. */
  readonly isRight?: true;
  /** The user's settings may change it in an agent that there is. */
  readonly isChangeable?: true;
};

const OTHERS = ["claude", "opencode", "copilot", "gemini"] as const;
const TEXT = { is: "text" } as const;
const NAMES = { is: "names" } as const;
const NO_NAMES = { is: "names", default: [] } as const;
const RULES = { is: "rules" } as const;
const NO_RULES = { is: "rules", default: [] } as const;
const SWITCHED: VendorKey["values"] = [
  [true, false],
  [false, true],
];
const strings: JsonSchema = { oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };
const describeNames = (description: string): JsonSchema => ({ description, ...strings });

const DELIVERABLES: JsonSchema = {
  type: "array",
  items: {
    oneOf: [
      { type: "string", description: "A file glob." },
      {
        type: "object",
        required: ["file"],
        additionalProperties: false,
        properties: {
          file: { type: "string", description: "Glob in the workspace, or in the project with `project:`." },
          schema: { type: "object", description: "JSON Schema of every matching file." },
          before: describeNames("Tools that wait until this file is there and valid."),
        },
      },
      {
        type: "object",
        required: ["command"],
        additionalProperties: false,
        properties: { command: { type: "string", description: "A command that must exit with 0." } },
      },
    ],
  },
};

const TRIGGERS: JsonSchema = {
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
              word: describeNames("The word, or several that have the rest in common."),
              with: describeNames("One of these must be in the request too."),
              not: describeNames("None of these may be in the request."),
            },
          },
        ],
      },
    },
  ],
};

const CALLS_BY_TOOL: JsonSchema = { type: "object", additionalProperties: { type: "integer", minimum: 0 } };

const limit = (range: NumberRange, about: string, label: string, hint: string) =>
  ({ about, kind: { is: "number", range }, form: { label, hint } }) as const;

/** Upper bounds of runs, in agent files and in settings. */
export const LIMIT_PARTS = {
  turns: limit(AT_LEAST_ONE, "Model calls of one run.", "Turns", "of one run"),
  toolCalls: limit(COUNT, "Tool calls of one run.", "Tool calls", "of one run"),
  contextChars: limit(AT_LEAST_ONE, "Characters of one run's history.", "Context chars", "of one run"),
  minutes: limit(
    POSITIVE,
    "Working time of one run; waiting for sub-agents or a person does not count.",
    "Minutes",
    "of one run",
  ),
  tokens: limit(AT_LEAST_ONE, "Tokens of a run and everything below it.", "Tokens", "with everything below"),
  costUsd: limit(
    AMOUNT,
    "US dollars of a run and everything below it.",
    "Cost in US$",
    "with everything below",
  ),
  spawns: limit(COUNT, "Runs below one run, at any depth.", "Delegations", "with everything below"),
  depth: limit(COUNT, "Levels of delegation below one run.", "Depth", "of delegations below it"),
  perTool: {
    about: "Calls of one run by tool; takes the same names as `tools`.",
    kind: { is: "own", schema: CALLS_BY_TOOL },
  },
} as const satisfies Readonly<Record<string, FieldPart>>;

/**
 * Every field of an agent file, in the order in which they are documented and written. Reading, writing, editing, the JSON
 * Schema, the form in the browser and the table in docs/agent-files.md follow it.
 */
export const AGENT_FIELDS = {
  name: {
    about: "What the agent is called; its id is made from it.",
    kind: TEXT,
    without: "the file's name",
    vendorKeys: { displayName: { addedIn: OTHERS, is: "text" } },
    form: { section: "Identity", label: "Name", hint: "Others address it by this." },
  },
  id: {
    about: "The id by which it is addressed, if it differs from the name.",
    kind: TEXT,
    without: "`name`",
  },
  aliases: {
    about: "Other names it answers to.",
    kind: NO_NAMES,
    form: { section: "Identity", label: "Aliases", placeholder: "Type a name" },
  },
  description: {
    about: "When to delegate to this agent.",
    kind: TEXT,
    without: "required",
    form: {
      section: "Identity",
      label: "Description",
      hint: "When to delegate to it. Other agents choose by this.",
    },
  },
  model: {
    about: "`inherit`, an alias (`fast`, `smart`, `haiku`, `sonnet`, `opus`) or `provider/model-id`.",
    kind: { is: "text", default: "inherit" },
    isChangeable: true,
    form: {
      section: "Model",
      label: "Model",
      hint: "inherit takes the parent's. Else an alias, or provider/model-id.",
      proposals: ["inherit", "fast", "smart", "haiku", "sonnet", "opus"],
    },
  },
  tools: {
    about: "What it may use: names, groups, or rules such as `write(test/**)`.",
    kind: RULES,
    without: "all its parent grants",
    isRight: true,
    vendorKeys: { allowedTools: { is: "names" } },
    form: { section: "Rights", label: "May use" },
  },
  askTools: {
    about: "What it may use only after asking a person.",
    kind: NO_RULES,
    isRight: true,
    form: { section: "Rights", label: "Asks before" },
  },
  disallowedTools: {
    about: "What it may never use.",
    kind: NO_RULES,
    isRight: true,
    vendorKeys: { permission: {}, permissionMode: {} },
    form: { section: "Rights", label: "Never" },
  },
  grants: {
    about: "What it may pass on to sub-agents.",
    kind: RULES,
    without: "the same as `tools`",
    isRight: true,
    form: { section: "Rights", label: "Passes on" },
  },
  subagents: {
    about: "Whom this agent may delegate to, and how; a list alone is `allow`.",
    kind: {
      is: "map",
      example: "{allow: [name]}",
      isStrict: true,
      isOptional: true,
      short: "allow",
      parts: {
        allow: { about: "Agents it may delegate to; `*` for all.", kind: NAMES },
        deny: { about: "Agents it may never delegate to.", kind: NO_NAMES },
        execution: {
          about: "How several delegations of one turn run.",
          kind: { is: "choice", words: EXECUTION_MODES, default: "parallel", bad: "sequential" },
          form: {
            label: "Several at once",
            options: {
              parallel: ["Side by side", "Results come together."],
              parallel_streaming: ["Side by side, streaming", "Each result comes as it is there."],
              sequential: ["One after the other"],
            },
          },
        },
        maxConcurrent: {
          about: "Delegations running at once.",
          kind: { is: "number", range: AT_LEAST_ONE, default: 5 },
          form: { label: "At most at once" },
        },
        recursive: {
          about: "Whether an agent already in the chain may be called again.",
          kind: { is: "flag", default: false, bad: false },
          form: { label: "Recursive", hint: "It may come up again below itself." },
        },
      },
    },
    without: "works alone",
    isRight: true,
    vendorKeys: { agents: { part: "allow", addedIn: ["copilot"], is: "names" } },
    form: { section: "Sub-agents", label: "Sub-agents" },
  },
  context: {
    about:
      "What a child sees of its parent's conversation: nothing but the task, a summary, what the parent picks, or everything (also `full_history`) with the results of its earlier sub-agents.",
    kind: {
      is: "choice",
      words: CONTEXT_MODES,
      also: { full_history: "full" },
      default: "task_only",
      bad: "task_only",
    },
    form: {
      section: "Work",
      label: "Sees of its parent",
      options: {
        task_only: ["The task only", "Nothing of the parent's conversation."],
        summary: ["A summary", "The task and the gist of the conversation."],
        selective: ["Selected parts", "The task and the messages the parent picks."],
        full: ["Everything", "The whole conversation."],
      },
    },
  },
  limits: {
    about: "Upper bounds of its runs.",
    kind: { is: "map", example: "{turns: 20}", isStrict: true, parts: LIMIT_PARTS },
    without: "from the settings",
    isChangeable: true,
    vendorKeys: {
      maxTurns: { part: "turns", addedIn: ["claude", "gemini"], isQuotedIn: ["claude"] },
      maxSteps: { part: "turns" },
      steps: { part: "turns", addedIn: ["opencode"] },
      timeoutMins: { part: "minutes", addedIn: ["gemini"] },
    },
    form: { section: "Limits", label: "Limits" },
  },
  temperature: {
    about: "Passed to the model.",
    kind: { is: "number", range: TEMPERATURE, isHint: true },
    without: "the provider's",
    isChangeable: true,
    form: {
      section: "Model",
      label: "Temperature",
      hint: "From 0 to 2; higher is freer.",
      placeholder: "as the provider sets it",
    },
  },
  maxOutputTokens: {
    about: "Tokens of one reply, at most as many as the model can give.",
    kind: { is: "number", range: AT_LEAST_ONE },
    without: "the settings', else the model's own maximum",
    isChangeable: true,
    form: {
      section: "Model",
      label: "Output tokens",
      hint: "The most that one reply may have.",
      placeholder: "as many as the model can give",
    },
  },
  delegation: {
    about: "Requests that must go to this agent, see below.",
    kind: {
      is: "map",
      example: "{mandatory: true, triggers: [report]}",
      isOptional: true,
      parts: {
        mandatory: {
          about: "Whether such a request must be delegated to it.",
          kind: { is: "flag", default: false, bad: false },
        },
        triggers: {
          about: "Words that mark such a request.",
          kind: { is: "own", schema: TRIGGERS, default: [] },
        },
      },
    },
  },
  retry: {
    about: "When a failed delegation is tried again; a number alone is `attempts`.",
    kind: {
      is: "map",
      example: "{attempts: 2}",
      isStrict: true,
      short: "attempts",
      parts: {
        attempts: {
          about: "How many times it is tried again.",
          kind: { is: "number", range: RETRIES, default: 1 },
        },
        on: {
          about: "Error types that are worth another try.",
          kind: { is: "names", words: ERROR_TYPES, default: ["network", "rate_limit"] },
        },
        backoffMs: {
          about: "Wait before the first retry, in milliseconds.",
          kind: { is: "number", range: BACKOFF_MS, default: 1000 },
        },
      },
    },
  },
  deliverables: {
    about: "What a run must leave behind, see below.",
    kind: { is: "own", schema: DELIVERABLES, default: [] },
  },
  verify: {
    about:
      "`reviewer`: a run of that agent judges success criteria that no command among the deliverables can tell.",
    kind: { is: "choice", words: ["reviewer"] },
    without: "nobody",
  },
  workspace: {
    about: "The session's folder and the project, or a folder of its own.",
    kind: { is: "choice", words: ["shared", "isolated"], default: "shared", bad: "isolated" },
    vendorKeys: { isolation: { values: [["worktree", "isolated"]], addedIn: ["claude"] } },
    form: {
      section: "Work",
      label: "Workspace",
      options: {
        shared: ["Shared", "Works in the session's folder and in the project."],
        isolated: ["Isolated", "Works in a folder of its own."],
      },
    },
  },
  flow: {
    about:
      "A free loop, or the three phases of an intent (assess, execute, format) with one structured response.",
    kind: { is: "choice", words: ["loop", "intent"], default: "loop", bad: "loop" },
    form: {
      section: "Work",
      label: "Flow",
      options: {
        loop: ["Loop", "Turns until it is done."],
        intent: ["Intent", "Assess, execute, format: one request in, one answer out."],
      },
    },
  },
  display: {
    about: "How it is shown.",
    kind: {
      is: "map",
      example: "{icon: 🧪}",
      parts: {
        name: {
          about: "Name shown to people.",
          kind: TEXT,
          form: { name: "displayName", section: "Identity", label: "Display name" },
        },
        icon: { about: "An emoji.", kind: TEXT, form: { section: "Identity", label: "Icon" } },
        color: {
          about: "A colour name or #rrggbb.",
          kind: TEXT,
          spelling: "colour",
          form: { section: "Identity", label: "Colour" },
        },
      },
    },
    vendorKeys: {
      color: { part: "color", addedIn: OTHERS, is: "text" },
      icon: { part: "icon", addedIn: OTHERS, is: "text" },
    },
  },
  enabled: {
    about: "Whether it can be reached at all.",
    kind: { is: "flag", default: true, bad: false },
    isRight: true,
    vendorKeys: {
      disable: {
        values: SWITCHED,
        addedIn: ["opencode"],
      },
      disabled: {
        values: SWITCHED,
      },
    },
    form: {
      section: "Identity",
      label: "Enabled",
      hint: "A disabled agent stays in the list, and nobody can delegate to it.",
    },
  },
} as const satisfies Readonly<Record<string, AgentField>>;

/** Keys of other programs that are read, though they are no field of ours: opencode's prompt, and where Gemini's agents run. */
export const READ_BESIDES = ["prompt", "kind"] as const;

/** Other programs' keys that are kept in `extra`; `noted` ones would change behaviour there, so keeping them is said. */
export const KEPT_KEYS = {
  noted:
    `skills hooks mcpServers memory background handoffs disableModelInvocation infer userInvocable initialPrompt options
    effort reasoningEffort topP`.split(/\s+/),
  silent: "mode hidden target argumentHint metadata version author license tags category title $schema".split(
    " ",
  ),
};

/** The fields by their names, as they are looked up. */
export const FIELD_TABLE: Readonly<Record<string, AgentField>> = AGENT_FIELDS;

type Fields = typeof AGENT_FIELDS;
type SimpleKind = { readonly is: "number" | "choice" | "flag" };
type SimpleName = {
  [Name in keyof Fields]: Fields[Name]["kind"] extends SimpleKind ? Name : never;
}[keyof Fields];
type DefaultedName = {
  [Name in SimpleName]: Fields[Name]["kind"] extends { readonly default: unknown } ? Name : never;
}[SimpleName];
type FormName = {
  [Name in SimpleName]: Fields[Name] extends { readonly form: unknown } ? Name : never;
}[SimpleName];
type SimpleValue<Kind> = Kind extends { readonly words: readonly (infer Word)[] }
  ? Word
  : Kind extends { readonly is: "number" }
    ? number
    : boolean;

/** Fields that the user's settings may change in an agent that there is. */
export type ChangeableName = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isChangeable: true } ? Name : never;
}[keyof Fields];

/** What a definition says in fields that are a number, a word or a flag. */
export type SimpleFields = {
  [Name in DefaultedName]: SimpleValue<Fields[Name]["kind"]>;
} & { [Name in Exclude<SimpleName, DefaultedName>]?: SimpleValue<Fields[Name]["kind"]> };

/** The same as the form shows it: null is a field that the file leaves out. */
export type SimpleFormFields = {
  [Name in FormName]: SimpleValue<Fields[Name]["kind"]> | (Name extends DefaultedName ? never : null);
};

import type { DelegationRequest, OpenDelegation } from "../schema/delegation.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { ReplayClass } from "../schema/record.ts";
import type { ChangeKind, RunResult, SuiteTests } from "../schema/result.ts";
import type { Risk, Target } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";

export type { Risk };

/** The two folders a run works in, and where in the project its relative paths begin if not at its top. */
export type Roots = {
  projectDir: string;
  workspaceDir: string;
  cwd?: string | undefined;
  /**
   * For files that belong to one run: where it keeps the file with this path. That is the path itself, which is its own
   * from then on, unless another run of the session, not one below it, has that.
   */
  takePath?(path: string): string;
};

/** What a program may say of a child besides its task: all that a delegation may, a tool-call budget, a signal that ends it. */
export type ChildOptions = Omit<DelegationRequest, "agent" | "task"> & {
  budget?: number;
  signal?: AbortSignal;
};

/** One task of `fanOut`. */
export type ChildTask =
  | readonly [agent: string, task: string, options?: ChildOptions]
  | ({ readonly agent: string; readonly task: string } & ChildOptions);

/** A child under way. */
export type ChildHandle = {
  /** Its run id. */
  readonly id: string;
  readonly agent: string;
  /** Never rejects: what goes wrong, a refusal too, is a result that failed. */
  readonly result: Promise<RunResult>;
  /** Ends it with everything below it. */
  cancel(reason?: string): void;
};

/** Starts runs below a parent: in its tree, on its budget, and with no more rights than it may pass on. */
export type Spawner = {
  spawn(agent: string, task: string, options?: ChildOptions): ChildHandle;
  /** Several at once, 3 by default; results in the order of the tasks. */
  fanOut(
    tasks: readonly ChildTask[],
    options?: { maxConcurrent?: number; signal?: AbortSignal },
  ): Promise<RunResult[]>;
};

/** What a tool gets besides its input. */
export type ToolContext = Roots & {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  /** The turn that asked for the call: calls of one turn are wanted together. Without it the call stands alone. */
  readonly turn?: number;
  /** The record's row that rows made by this call hang from. */
  readonly rowId: number;
  readonly signal: AbortSignal;
  /** What the permission check saw and allowed: exactly these places may be touched. */
  readonly targets: readonly Target[];
  /** Whether the run's rights let this tool see a file it found, for tools that look into many at once. */
  maySee(file: Target): boolean;
  /** Whether the run's rights let it write this file without asking, for tools whose own input does not name what they write. */
  mayWrite(file: Target): boolean;
  /** Whether the run can call a tool of this name, for a hint at it; not known if absent. */
  readonly holds?: (tool: string) => boolean;
  /** Whether rules tell files apart for reading or for writing; not known if absent. */
  readonly dividesFiles?: { readonly read: boolean; readonly write: boolean };
  /** Keeps what a file holds now, so that the change can be shown and taken back; awaited before the change. */
  beforeChange(path: string): Promise<void>;
  /** Around work whose changes are not known beforehand, such as a command: finds, keeps and reports what it changed. */
  aroundChanges<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Shows a person how far a long call is. */
  progress(message: string): void;
  /** Reports a file this call made, changed or deleted, so that the result can list it. */
  changed(path: string, kind: ChangeKind): void;
  /**
   * Gives what this call found to the host, which keeps it as a file of the workspace, secrets hidden. It returns at
   * once and never fails: writing goes on in the background, and what goes wrong there becomes a notice.
   */
  observed(path: string, text: string): void;
  /** Reports tests that really ran; of a suite that runs again, the last run counts. */
  tested(suite: string, tests: Pick<SuiteTests, "run" | "passed" | "part_of" | "fault">): void;
  /** Starts children of the run that called the tool; only for tools with `delegates: "program"`. */
  readonly children?: Spawner;
};

/** What a tool returns: text for the model, and optionally data and flags for the host. */
export type ToolOutput = {
  text: string;
  isError?: boolean;
  /** Untrusted text is in this output although the tool as such is trusted. */
  tainted?: boolean;
  /** Private data is in this output although the tool as such gives only what is public. */
  privateData?: boolean;
  /**
   * Texts of this output that came from outside as they are, such as a page or the hits of a search: addresses in them may be
   * asked for in turn. Never what the tool says itself, which may repeat its input.
   */
  shown?: readonly string[];
  /** The tool wrote its own row. */
  recorded?: boolean;
  /** Delegations whose results are in this output, and those it names as still running. */
  children?: { delivered: readonly string[]; running: readonly OpenDelegation[] };
};

/** A schema library's object (zod, valibot, arktype …) that validates and describes itself as JSON Schema. */
export type StandardInput<Input> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Input> | Promise<StandardResult<Input>>;
    readonly jsonSchema: { readonly input: (options: { target: "draft-07" }) => Record<string, unknown> };
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
  };
};
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly unknown[] | undefined;
      }[];
    };

/** A call of the same tool that came before in the session. */
export type EarlierCall<Input> = {
  readonly input: Input;
  /** Files of the project that it made or changed, as far as that was found. */
  readonly files: readonly string[];
};

/** How a tool reads what models write that learned other systems' forms; its `words` are its own by then. */
export type AcceptInput = (
  input: Readonly<Record<string, unknown>>,
  ignore: (key: string) => void,
) => Readonly<Record<string, unknown>>;

/** A program that leads a session in the place of a model. */
export type Program = {
  /** Gets the means to start children; resolves with its report once it will start no more and all have ended. */
  lead(children: Spawner): Promise<ToolOutput>;
};

/** One tool. Every call of it goes through the dispatcher. */
export type Tool<Input = never> = {
  readonly name: string;
  readonly description: string;
  /** Packs it belongs to, which rules may name. */
  readonly groups: readonly string[];
  readonly input: JsonSchema | StandardInput<Input>;
  /** What a model is told of the input, where that can be shorter than what it is checked by. */
  readonly told?: JsonSchema;
  /** Properties of the input that are understood, but that a model need not be told of in every request. */
  readonly untold?: readonly string[];
  /** Other systems' words for keys of its input, such as `{file_path: "path"}`; a fault is told in those that were used. */
  readonly words?: Readonly<Record<string, string>>;
  /** Puts an input that was written in the form of other systems into its own; `ignore` names what it leaves out. */
  readonly accept?: AcceptInput;
  /** Keys whose values are taken exactly as they are written: limits, of which a doubtful one must be refused. */
  readonly exact?: readonly string[];
  readonly risk: Risk | ((input: Input) => Risk | Promise<Risk>);
  readonly replay: ReplayClass;
  /** Its output is text from outside: mail, pages, chat. */
  readonly untrusted: boolean;
  /**
   * Its output tells only what is public, or what the run itself has said. What any other tool puts out is private data:
   * files, what commands say, mail, chat, appointments, people.
   */
  readonly isPublic: boolean;
  /**
   * What a call asks the web for: whole addresses, or for a search a text that cannot be taken for one. Addresses that its
   * public answers say were `shown` may be asked for in turn; one that a model put together itself may carry what the run
   * knows.
   */
  readonly requests?: (input: Input, roots: Roots) => readonly string[] | Promise<readonly string[]>;
  /** It acts outside: sends, invites, posts, uploads, pushes. */
  readonly outbound: boolean | ((input: Input) => boolean);
  /** What is wrong with an input that fits the schema, said before rights are looked at; null if nothing. */
  readonly check?: (input: Input) => string | null | Promise<string | null>;
  /**
   * Why a person must confirm this very call, whatever a rule on the tool's name says; null if nobody must. A rule that
   * names whom the call reaches, or the command, is such a confirmation. `earlier` are the calls of the session before it.
   */
  readonly confirm?: (
    input: Input,
    roots: Roots,
    earlier?: readonly EarlierCall<Input>[],
  ) => string | null | Promise<string | null>;
  /** The call as a person must see it before a yes: every address, the whole text. Without it the input is shown. */
  readonly present?: (input: Input) => string | Promise<string>;
  /** What a call would touch, on real paths and canonical names. */
  readonly access: (input: Input, roots: Roots) => readonly Target[] | Promise<readonly Target[]>;
  /**
   * State of what it reads; equal input and state give an equal output, so a session may reuse it. A run that is given
   * such an output has seen what was read.
   */
  readonly fileState?: (
    input: Input,
    run: Roots & { readonly runId?: string },
  ) => Promise<string | undefined>;
  /** For `replay: "lookup"`: asks the outside whether a call happened; its output, or null if it did not. */
  readonly lookup?: (
    input: Input,
    context: Roots & { sessionId: string; runId: string; callId: string; signal: AbortSignal },
  ) => Promise<ToolOutput | string | null>;
  /** Its answer changes though its input does not, so that calling it again is no circle. */
  readonly polls?: boolean;
  /** False: understood, but not offered to the model. */
  readonly offered?: boolean | (() => boolean);
  /** The file of the workspace that its calls make, so that who must wait for it is told what to call. */
  readonly makes?: string;
  /** What its calls are held to, in a few words for the prompt. */
  readonly limits?: string;
  /** False: there is nothing that it could work on, such as a mailbox, until somebody sets it up. */
  readonly isSetUp?: boolean;
  /** The tool by whose rules a call of this one is judged; its own name if absent. */
  readonly judgedAs?: string;
  /**
   * It starts child runs and holds no slot while it waits; `self-recorded` if a child's row stands for the call, `program`
   * if its own code starts them through `context.children`.
   */
  readonly delegates: false | "recorded" | "self-recorded" | "program";
  readonly execute: (input: Input, context: ToolContext) => Promise<ToolOutput | string>;
  /** The same tool as these settings want it; the runtime uses that one. */
  readonly withSettings?: (settings: Settings, places: HostPlaces) => AnyTool;
  /** Lets go of what it holds open, such as a server or a database; the runtime calls it once, when it closes. */
  readonly close?: () => Promise<void> | void;
};

/** What a tool must know of the machine; one object for all tools of a runtime, so that they can share what belongs to it. */
export type HostPlaces = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly dataDir: string;
  readonly configDir: string;
  /** From now on keeps this value out of everything that the runtime records or shows. */
  readonly hideSecret?: (value: string) => void;
};

/** Whether a model is told of a tool under this name; other names of it are understood, too. */
export function isOffered(name: string, tool: AnyTool): boolean {
  if (name !== tool.name) return false;
  return typeof tool.offered === "function" ? tool.offered() : tool.offered !== false;
}

/** Whether no call of a tool changes anything, here or outside. */
export function onlyReads({ risk, replay, outbound }: AnyTool): boolean {
  return risk === "low" && replay === "safe" && outbound === false;
}

/** Programs that fail have told something; nothing was left undone by it. */
const RUN_PROGRAMS = ["shell", "test"];

/** Whether calls of a tool are there to change files here, so that what comes behind one that failed may miss its change. */
export function writesFiles(tool: AnyTool): boolean {
  const { groups, outbound, replay, delegates } = tool;
  if (onlyReads(tool) || delegates || groups.some((group) => RUN_PROGRAMS.includes(group))) return false;
  return outbound === false && replay !== "lookup";
}

/** Whether a call leaves what cannot be taken back or that others see: a commit, a mail, an invitation. */
export function isLasting(tool: Tool<unknown>, input: unknown): boolean {
  if (tool.replay === "lookup") return true;
  return typeof tool.outbound === "function" ? tool.outbound(input) : tool.outbound;
}

type Defaults = "groups" | "risk" | "replay" | "untrusted" | "isPublic" | "outbound" | "access" | "delegates";

/** What `defineTool` takes: name, description, input and execute; the rest has careful defaults. */
export type ToolDefinition<Input> = Omit<Tool<Input>, Defaults> & Partial<Pick<Tool<Input>, Defaults>>;

/** A tool whose input type only its own functions know. */
export type AnyTool = Tool<never>;

const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/**
 * Types a tool declaration. Without a `replay` class a call is never repeated; without `risk` it counts as medium; without
 * `isPublic` its output is private data.
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool<Input> {
  if (!NAME.test(definition.name)) {
    throw new TypeError(
      `tool name '${definition.name}' must be letters, digits, _ or -, and begin with a letter`,
    );
  }
  return Object.freeze({
    groups: [],
    risk: "medium",
    replay: "never",
    untrusted: false,
    isPublic: false,
    outbound: false,
    access: () => [],
    delegates: false,
    ...definition,
  });
}

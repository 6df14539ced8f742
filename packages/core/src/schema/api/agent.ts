import type { Agent, AgentFormat, ContextMode, ExecutionMode, Limits, Problem } from "../agent.ts";
import type { Decision, Risk, Verdict } from "../rights.ts";

/** How an agent looks, wherever it is named. */
export type AgentFace = { name: string; displayName: string; icon: string | null; color: string | null };

/** How sound an agent file is. */
export type AgentHealth = { errors: number; warnings: number; notes: number };

/** An agent in the list. */
export type AgentCard = AgentFace & {
  description: string;
  model: string;
  aliases: readonly string[];
  format: AgentFormat;
  scope: "project" | "user" | "builtin" | "code";
  /** Where it stands, as people name it; null for one that is in no file. */
  file: string | null;
  /** It can be changed here: a file of the project's or the user's agent folders. */
  isEditable: boolean;
  state: "enabled" | "disabled" | "shadowed" | "broken";
  /** What has the name, if another came before. */
  shadowedBy: string | null;
  health: AgentHealth;
  /** Rules it may use; null means everything its parent grants. */
  tools: readonly string[] | null;
  subagents: readonly string[] | null;
  /** What catches the eye about its rights, such as a reader that holds a shell. */
  concerns: readonly string[];
};

/** `GET /api/agents`. */
export type AgentList = {
  agents: AgentCard[];
  /** Problems of files that belong to no agent above. */
  problems: Problem[];
  /** Folders that new agents can go to. */
  folders: { scope: "project" | "user"; path: string }[];
};

/** `GET /api/agents/:name`. */
export type AgentDetail = {
  card: AgentCard;
  /** The file as it is; null for one that is in no file. `hash` names this state of it. */
  text: string | null;
  hash: string | null;
  review: AgentReview;
};

/** The fields that a form shows, as the file says them; null and empty lists are fields that it leaves out. */
export type AgentForm = {
  name: string;
  displayName: string;
  description: string;
  model: string;
  aliases: readonly string[];
  tools: readonly string[] | null;
  askTools: readonly string[];
  disallowedTools: readonly string[];
  grants: readonly string[] | null;
  subagents: {
    allow: readonly string[];
    deny: readonly string[];
    execution: ExecutionMode;
    maxConcurrent: number;
    recursive: boolean;
  } | null;
  context: ContextMode;
  limits: Limits;
  temperature: number | null;
  maxOutputTokens: number | null;
  workspace: "shared" | "isolated";
  flow: "loop" | "intent";
  icon: string | null;
  color: string | null;
  enabled: boolean;
  prompt: string;
};

/** A change of some fields of the form; null takes a field out of the file. */
export type AgentFormChange = Partial<{ [Field in keyof AgentForm]: AgentForm[Field] | null }>;

/** `POST /api/agents/edit`: fields written into a text, every other byte of which stays. */
export type EditRequest = {
  text: string;
  format: AgentFormat;
  change: AgentFormChange;
  /** Name of the agent whose file it is, which it has if the text gives none. */
  name?: string;
};
export type EditResult = { text: string };

/** `POST /api/agents/review`: a text that is not saved, judged as if it were. */
export type ReviewRequest = {
  text: string;
  /** The agent whose file it is; null for a new one. */
  name: string | null;
  scope?: "project" | "user";
  /** Agents above it, root first, for the rights it would have there. */
  parents?: readonly string[];
};

/** One tool in the table of effective rights. */
export type RightsRow = {
  tool: string;
  kind: "tool" | "group" | "other";
  groups: readonly string[];
  verdict: Verdict | "depends";
  layer: string;
  rule: string | null;
  /** The rules on which it hangs, or that make exceptions. */
  patterns: readonly string[];
};

/** What is known of a text: whether it can be used, what it may do, whom it reaches. */
export type AgentReview = {
  /** Null if no agent can be made of the text. */
  form: AgentForm | null;
  format: AgentFormat;
  /** Keys of the file that Retinue does not know and keeps. */
  kept: readonly string[];
  problems: Problem[];
  /** Why it cannot be saved; empty if it can. */
  refusals: string[];
  concerns: string[];
  chain: readonly string[];
  rights: RightsRow[];
  delegatesTo: readonly string[];
  graph: DelegationGraph;
  /** Against the file as it is on disk, unified; empty if nothing differs. */
  diff: string;
};

/** Who may delegate to whom. */
export type DelegationGraph = {
  nodes: (AgentFace & { isEnabled: boolean })[];
  edges: { from: string; to: string; isInCycle: boolean }[];
  /** Each once: `["a", "b"]` is a → b → a. */
  cycles: string[][];
};

/** `PUT /api/agents/:name` and `POST /api/agents`. */
export type SaveRequest = {
  text: string;
  /** The state of the file that was edited: another one is a conflict; null for a new file. */
  hash: string | null;
  scope?: "project" | "user";
};
export type SaveResult = { name: string; file: string; hash: string; diff: string };

/** `POST /api/agents/try`: what would become of a call. */
export type TryRequest = {
  /** A text that is not saved; without it the agent as it is. */
  text?: string;
  name: string | null;
  parents?: readonly string[];
  tool: string;
  input: unknown;
};
export type TryResult = {
  decision: Decision;
  risk: Risk | null;
  /** What the call would touch. */
  targets: string[];
  /** What each layer says, root first. */
  layers: { layer: string; verdict: Verdict; rule: string | null }[];
  /** Why the input is none of this tool's; null if it is. */
  fault: string | null;
};

/** `GET /api/tools`: what rules may name. */
export type ToolList = {
  tools: {
    name: string;
    groups: readonly string[];
    description: string;
    risk: Risk | "depends";
    input: unknown;
  }[];
  groups: readonly string[];
};

/** The whole definition, as a run would take it. */
export type { Agent };

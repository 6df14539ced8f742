import type { Limits, Problem, SubagentPolicy } from "../agent.ts";
import type { SimpleFormFields } from "../agent-fields.ts";
import { describeForm } from "../form-fields.ts";
import type { JsonSchema } from "../json-schema.ts";
import {
  anything,
  flag,
  list,
  oneOf,
  orNull,
  type Shape,
  shape,
  type TypeIn,
  text,
  textWith,
  whole,
} from "../shape.ts";

/** What an agent is called by; everything else is looked up among those there are. */
const NAME = textWith({ minLength: 1, maxLength: 200 });
/** An agent's text; larger files are not agents. */
const FILE_TEXT = textWith({ maxLength: 1_048_576 });
/** Agents above another, root first. */
const PARENTS = list(NAME, { maxItems: 20 });
/** Where new agents go. */
const FOLDER = oneOf("project", "user");
const PLACE = oneOf("project", "user", "builtin", "code");
const FORMAT = oneOf("native", "claude", "opencode", "copilot", "gemini", "code", "settings");
const VERDICT = oneOf("allow", "ask", "deny");
const PROBLEM: Shape<Problem> = shape({
  severity: oneOf("error", "warning", "info"),
  file: text,
  line: whole,
  code: text,
  message: text,
  fix: text,
});

const FACE = { name: text, displayName: text, icon: orNull(text), color: orNull(text) };

/** How an agent looks, wherever it is named. */
export const AgentFace = shape(FACE);
export type AgentFace = TypeIn<typeof AgentFace>;

/** How sound an agent file is. */
export const AgentHealth = shape({ errors: whole, warnings: whole, notes: whole });
export type AgentHealth = TypeIn<typeof AgentHealth>;

/** An agent in the list. */
export const AgentCard = shape({
  ...FACE,
  description: text,
  model: text,
  aliases: list(text),
  format: FORMAT,
  scope: PLACE,
  /** Where it stands, as people name it; null for one that is in no file. */
  file: orNull(text),
  /** It can be changed here: a file of the project's or the user's agent folders. */
  isEditable: flag,
  state: oneOf("enabled", "disabled", "shadowed", "broken"),
  /** What has the name, if another came before. */
  shadowedBy: orNull(text),
  health: AgentHealth,
  /** Rules it may use; null means everything its parent grants. */
  tools: orNull(list(text)),
  subagents: orNull(list(text)),
  /** What catches the eye about its rights, such as a reader that holds a shell. */
  concerns: list(text),
});
export type AgentCard = TypeIn<typeof AgentCard>;

/** `GET /api/agents`. */
export const AgentList = shape({
  agents: list(AgentCard),
  /** Problems of files that belong to no agent above. */
  problems: list(PROBLEM),
  /** Folders that new agents can go to. */
  folders: list(shape({ scope: FOLDER, path: text })),
});
export type AgentList = TypeIn<typeof AgentList>;

/** The fields that a form shows, as the file says them; null and empty lists are fields that it leaves out. */
export type AgentForm = SimpleFormFields & {
  name: string;
  displayName: string;
  description: string;
  model: string;
  aliases: readonly string[];
  tools: readonly string[] | null;
  askTools: readonly string[];
  disallowedTools: readonly string[];
  grants: readonly string[] | null;
  subagents: SubagentPolicy | null;
  limits: Limits;
  icon: string | null;
  color: string | null;
  prompt: string;
};
const FORM = describeForm();
const FORM_SCHEMA: JsonSchema = shape(FORM);
export const AgentForm: Shape<AgentForm> = FORM_SCHEMA;

/** A change of some fields of the form; null takes a field out of the file. */
export type AgentFormChange = Partial<{ [Field in keyof AgentForm]: AgentForm[Field] | null }>;
const CHANGE: Shape<AgentFormChange> = shape(
  Object.fromEntries(Object.entries(FORM).map(([name, field]) => [`${name}?`, orNull<unknown>(field)])),
);

/** `POST /api/agents/edit`: values written into a text, whose other fields stay byte for byte. */
export const EditRequest = shape({
  text: FILE_TEXT,
  format: FORMAT,
  change: CHANGE,
  /** Name of the agent whose file it is, which it has if the text gives none. */
  "name?": NAME,
});
export type EditRequest = TypeIn<typeof EditRequest>;
export const EditResult = shape({ text });
export type EditResult = TypeIn<typeof EditResult>;

/** `POST /api/agents/review`: a text that is not saved, judged as if it were. */
export const ReviewRequest = shape({
  text: FILE_TEXT,
  /** The agent whose file it is; null for a new one. */
  name: orNull(NAME),
  "scope?": FOLDER,
  /** Agents above it, root first, for the rights it would have there. */
  "parents?": PARENTS,
});
export type ReviewRequest = TypeIn<typeof ReviewRequest>;

/** One tool in the table of effective rights. */
export const RightsRow = shape({
  tool: text,
  kind: oneOf("tool", "group", "other"),
  groups: list(text),
  verdict: oneOf("allow", "ask", "deny", "depends"),
  layer: text,
  rule: orNull(text),
  /** The rules on which it hangs, or that make exceptions. */
  patterns: list(text),
});
export type RightsRow = TypeIn<typeof RightsRow>;

/** Who may delegate to whom. */
export const DelegationGraph = shape({
  nodes: list(shape({ ...FACE, isEnabled: flag })),
  edges: list(shape({ from: text, to: text, isInCycle: flag })),
  /** Each once: `["a", "b"]` is a → b → a. */
  cycles: list(list(text)),
});
export type DelegationGraph = TypeIn<typeof DelegationGraph>;

/** What is known of a text: whether it can be used, what it may do, whom it reaches. */
export const AgentReview = shape({
  /** Null if no agent can be made of the text. */
  form: orNull(AgentForm),
  format: FORMAT,
  /** Keys of the file that Retinue does not know and keeps. */
  kept: list(text),
  problems: list(PROBLEM),
  /** Why it cannot be saved; empty if it can. */
  refusals: list(text),
  concerns: list(text),
  chain: list(text),
  rights: list(RightsRow),
  delegatesTo: list(text),
  graph: DelegationGraph,
  /** Against the file as it is on disk, unified; empty if nothing differs. */
  diff: text,
});
export type AgentReview = TypeIn<typeof AgentReview>;

const CHOICE = { "scope?": PLACE, "file?": text };

/** Which of several definitions of one name is meant, as a query. */
export const EntryChoice = shape(CHOICE);
export type EntryChoice = TypeIn<typeof EntryChoice>;

/** `GET /api/agents/:name`. */
export const AgentDetail = shape({
  card: AgentCard,
  /** The file as it is; null for one that is in no file. `hash` names this state of it. */
  text: orNull(text),
  hash: orNull(text),
  review: AgentReview,
});
export type AgentDetail = TypeIn<typeof AgentDetail>;

/** `PUT /api/agents/:name` and `POST /api/agents`. */
export const SaveRequest = shape({
  text: FILE_TEXT,
  /** The state of the file that was edited: another one is a conflict; null for a new file. */
  hash: orNull(text),
  "scope?": FOLDER,
});
export type SaveRequest = TypeIn<typeof SaveRequest>;
export const SaveResult = shape({ name: text, file: text, hash: text, diff: text });
export type SaveResult = TypeIn<typeof SaveResult>;

/** `DELETE /api/agents/:name`, as a query. */
export const RemoveRequest = shape({ ...CHOICE, hash: text });

/** `POST /api/agents/try`: what would become of a call. */
export const TryRequest = shape({
  /** A text that is not saved; without it the agent as it is. */
  "text?": FILE_TEXT,
  name: orNull(NAME),
  "parents?": PARENTS,
  tool: NAME,
  input: anything,
});
export type TryRequest = TypeIn<typeof TryRequest>;
export const TryResult = shape({
  decision: shape({
    verdict: VERDICT,
    layer: text,
    "rule?": text,
    reason: text,
    consented: flag,
    "namesCommand?": flag,
  }),
  risk: orNull(oneOf("low", "medium", "high")),
  /** What the call would touch. */
  targets: list(text),
  /** What each layer says, root first. */
  layers: list(shape({ layer: text, verdict: VERDICT, rule: orNull(text) })),
  /** Why the input is none of this tool's; null if it is. */
  fault: orNull(text),
});
export type TryResult = TypeIn<typeof TryResult>;

/** `GET /api/tools`: what rules may name. */
export const ToolList = shape({
  tools: list(
    shape({
      name: text,
      groups: list(text),
      description: text,
      risk: oneOf("low", "medium", "high", "depends"),
      input: anything,
    }),
  ),
  groups: list(text),
});
export type ToolList = TypeIn<typeof ToolList>;

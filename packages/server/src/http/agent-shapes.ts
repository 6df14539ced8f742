import { CONTEXT_MODES, EXECUTION_MODES } from "@retinue/core/schema/agent";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { rightsRow } from "./inspect-shapes.ts";
import { anything, byName, flag, list, number, oneOf, orNull, shape, text, whole } from "./shapes.ts";

/** An agent's text; larger files are not agents. */
export const agentText: JsonSchema = { type: "string", maxLength: 1_048_576 };

/** What an agent is called by; everything else is looked up among those there are. */
export const agentName: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };

/** Agents above another, root first. */
export const parents: JsonSchema = list(agentName, 20);

/** Where new agents go. */
export const scope: JsonSchema = oneOf("project", "user");

/** Whose format a file is in. */
export const format: JsonSchema = oneOf(
  "native",
  "claude",
  "opencode",
  "copilot",
  "gemini",
  "code",
  "settings",
);

const verdict = oneOf("allow", "ask", "deny");
const risk = oneOf("low", "medium", "high");
const face = { name: text, displayName: text, icon: orNull(text), color: orNull(text) };
const problem = shape({
  severity: oneOf("error", "warning", "info"),
  file: text,
  line: whole,
  code: text,
  message: text,
  fix: text,
});
const limits = shape({
  "turns?": number,
  "toolCalls?": number,
  "perTool?": byName(number),
  "contextChars?": number,
  "minutes?": number,
  "tokens?": number,
  "costUsd?": number,
  "spawns?": number,
  "depth?": number,
});

const fields: Readonly<Record<string, JsonSchema>> = {
  name: text,
  displayName: text,
  description: text,
  model: text,
  aliases: list(text),
  tools: orNull(list(text)),
  askTools: list(text),
  disallowedTools: list(text),
  grants: orNull(list(text)),
  subagents: orNull(
    shape({
      allow: list(text),
      deny: list(text),
      execution: oneOf(...EXECUTION_MODES),
      maxConcurrent: number,
      recursive: flag,
    }),
  ),
  context: oneOf(...CONTEXT_MODES),
  limits,
  temperature: orNull(number),
  maxOutputTokens: orNull(number),
  workspace: oneOf("shared", "isolated"),
  flow: oneOf("loop", "intent"),
  icon: orNull(text),
  color: orNull(text),
  enabled: flag,
  prompt: text,
};

/** A change of some fields of the form. */
export const formChange: JsonSchema = shape(
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [`${name}?`, orNull(schema)])),
);

/** Who may delegate to whom. */
export const graphShape: JsonSchema = shape({
  nodes: list(shape({ ...face, isEnabled: flag })),
  edges: list(shape({ from: text, to: text, isInCycle: flag })),
  cycles: list(list(text)),
});

/** What is known of a text. */
export const reviewShape: JsonSchema = shape({
  form: orNull(shape(fields)),
  format,
  kept: list(text),
  problems: list(problem),
  refusals: list(text),
  concerns: list(text),
  chain: list(text),
  rights: list(rightsRow),
  delegatesTo: list(text),
  graph: graphShape,
  diff: text,
});

/** An agent in the list. */
export const cardShape: JsonSchema = shape({
  ...face,
  description: text,
  model: text,
  aliases: list(text),
  format,
  scope: oneOf("project", "user", "builtin", "code"),
  file: orNull(text),
  isEditable: flag,
  state: oneOf("enabled", "disabled", "shadowed", "broken"),
  shadowedBy: orNull(text),
  health: shape({ errors: whole, warnings: whole, notes: whole }),
  tools: orNull(list(text)),
  subagents: orNull(list(text)),
  concerns: list(text),
});

/** All agents. */
export const agentListShape: JsonSchema = shape({
  agents: list(cardShape),
  problems: list(problem),
  folders: list(shape({ scope, path: text })),
});

/** What was saved. */
export const savedShape: JsonSchema = shape({ name: text, file: text, hash: text, diff: text });

/** What would become of a call. */
export const trialShape: JsonSchema = shape({
  decision: shape({ verdict, layer: text, "rule?": text, reason: text, consented: flag }),
  risk: orNull(risk),
  targets: list(text),
  layers: list(shape({ layer: text, verdict, rule: orNull(text) })),
  fault: orNull(text),
});

/** The tools there are. */
export const toolListShape: JsonSchema = shape({
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

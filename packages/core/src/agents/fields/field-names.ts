import { closest } from "../closest.ts";

/** Keys of Retinue's own format, in the order they are documented. */
export const OWN_FIELDS = [
  "name",
  "id",
  "aliases",
  "description",
  "model",
  "tools",
  "askTools",
  "disallowedTools",
  "grants",
  "subagents",
  "context",
  "limits",
  "temperature",
  "maxOutputTokens",
  "delegation",
  "retry",
  "deliverables",
  "verify",
  "workspace",
  "flow",
  "display",
  "enabled",
] as const;

/** Other vendors' keys that change the definition; each is translated into an own field. */
export const TRANSLATED_FIELDS = [
  "displayName",
  "prompt",
  "allowedTools",
  "permission",
  "permissionMode",
  "agents",
  "maxTurns",
  "maxSteps",
  "steps",
  "timeoutMins",
  "isolation",
  "disable",
  "disabled",
  "color",
  "icon",
  "kind",
] as const;

/** Other vendors' keys that are kept in `extra`; `noted` ones would change behaviour there, so keeping them is said. */
export const KEPT_FIELDS = {
  noted: [
    "skills",
    "hooks",
    "mcpServers",
    "memory",
    "background",
    "handoffs",
    "disableModelInvocation",
    "infer",
    "userInvocable",
    "initialPrompt",
    "options",
    "effort",
    "reasoningEffort",
    "topP",
  ],
  silent: [
    "mode",
    "hidden",
    "target",
    "argumentHint",
    "metadata",
    "version",
    "author",
    "license",
    "tags",
    "category",
    "title",
    "$schema",
  ],
} as const;

/** A key Retinue reads. */
export type FieldName = (typeof OWN_FIELDS)[number] | (typeof TRANSLATED_FIELDS)[number];

/** Keys that hold or restrict rights: a duplicate or a broken one makes the agent unusable. */
export const RIGHTS_FIELDS: ReadonlySet<string> = new Set([
  "tools",
  "allowedTools",
  "askTools",
  "disallowedTools",
  "grants",
  "permission",
  "permissionMode",
  "subagents",
  "agents",
  "enabled",
  "disable",
  "disabled",
]);

/** One spelling for `disallowedTools`, `disallowed_tools` and `disallowed-tools`. */
export function normalKey(key: string): string {
  return key.replaceAll(/[-_]/g, "").toLowerCase();
}

const READ_BY_KEY = new Map<string, FieldName>(
  [...OWN_FIELDS, ...TRANSLATED_FIELDS].map((field) => [normalKey(field), field]),
);
const NOTED = new Set<string>(KEPT_FIELDS.noted.map(normalKey));
const SILENT = new Set<string>(KEPT_FIELDS.silent.map(normalKey));
const SUGGESTIONS = [...OWN_FIELDS, ...TRANSLATED_FIELDS, ...KEPT_FIELDS.noted];

/** The field a written key means, or undefined. */
export function fieldOf(key: string): FieldName | undefined {
  return READ_BY_KEY.get(normalKey(key));
}

/** How a key that is not read is treated. */
export function keptKind(key: string): "noted" | "silent" | "unknown" {
  const normal = normalKey(key);
  if (NOTED.has(normal)) return "noted";
  return SILENT.has(normal) ? "silent" : "unknown";
}

/** The known key someone who wrote `key` most likely meant. */
export function closestField(key: string): string | undefined {
  return closest(key, SUGGESTIONS);
}

import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../schema/agent.ts";
import { FIELD_TABLE, type ValueKind } from "../schema/agent-fields.ts";

/** A definition without where it came from. */
export type AgentText = Omit<Agent, "source">;

const MAX_LINE = 120;

/**
 * An agent as a file of our own format. What is as it would be anyway is left out; keys that Retinue does not know are
 * kept. Read back, the file means the same agent.
 */
export async function writeAgentFile(agent: AgentText): Promise<string> {
  const { Document, isCollection, visit } = await import("yaml");
  const document = new Document({ ...listFields(agent), ...agent.extra });
  visit(document, {
    Collection(_key, node, path) {
      // The top level stays in lines of its own; lists and small maps below it read best on one.
      if (path.length > 1) node.flow = JSON.stringify(node.toJSON()).length <= MAX_LINE;
      return isCollection(node) && node.flow ? visit.SKIP : undefined;
    },
  });
  const yaml = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return `---\n${yaml.trimEnd()}\n---\n${agent.prompt.trim()}\n`;
}

function listFields(agent: AgentText): Record<string, unknown> {
  const { name, displayName, display } = agent;
  const values: Readonly<Record<string, unknown>> = {
    ...agent,
    display: { ...(displayName !== name && { name: displayName }), ...display },
  };
  const written = Object.entries(FIELD_TABLE).map(([field, { kind }]) => [
    field,
    toWritten(values[field], kind),
  ]);
  return Object.fromEntries(written.filter(([, value]) => value !== undefined));
}

/** A value as it has to be written; undefined if it goes without saying. */
export function toWritten(value: unknown, kind: ValueKind): unknown {
  if (value === undefined || value === null) return undefined;
  if (kind.is !== "map")
    return "default" in kind && isDeepStrictEqual(value, kind.default) ? undefined : value;
  const parts = Object.entries(kind.parts).flatMap(([part, { kind: own }]) => {
    const inner = toWritten(Object.entries(value).find(([key]) => key === part)?.[1], own);
    return inner === undefined ? [] : [[part, inner] as const];
  });
  return parts.length > 0 || kind.isOptional ? Object.fromEntries(parts) : undefined;
}

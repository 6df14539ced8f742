import type { Agent, AgentSource, SubagentPolicy } from "../../schema/agent.ts";
import { AGENT_FIELDS, FIELD_TABLE } from "../../schema/agent-fields.ts";
import { readAgentField, readFieldPart } from "./read-parts.ts";
import { readRights } from "./read-rights.ts";
import { badValue, type ReadContext, readLabel, readMap, readNames, report } from "./read-values.ts";
import { agentReference, makeSlug } from "./slug.ts";
import { sortKeys, type WrittenFields, withOwnServers } from "./sort-keys.ts";

/** What a definition is made of: its keys as written, its prompt, and the name it has if it gives none. */
export type AgentDraft = {
  values: ReadonlyMap<string, unknown>;
  prompt: string;
  fallbackName: string;
  source: AgentSource;
};

/** The names that a definition claims, and the agent unless an error was reported. */
export type AgentReading = Pick<Agent, "name" | "aliases"> & { agent?: Agent };

/** Fields that depend on each other, or of which more is asked than their kind says. */
type HandRead = Pick<
  Agent,
  | "name"
  | "displayName"
  | "aliases"
  | "description"
  | "prompt"
  | "model"
  | "tools"
  | "askTools"
  | "disallowedTools"
  | "grants"
  | "subagents"
>;
const READ_BY_HAND = new Set<string>(
  "name id aliases description model tools askTools disallowedTools grants subagents".split(" "),
);
/** What the kinds of the table give; `display` has the name as well. */
type TableRead = Omit<Agent, keyof HandRead | "source" | "extra"> & { display: { name?: string } };

/** Checks a definition. All problems are collected, none stops the reading. */
export function readAgent(base: ReadContext, draft: AgentDraft): AgentReading {
  const { fields, extra } = sortKeys(base, draft.values);
  const ctx = withOwnServers(base, extra);
  const table = readTable(ctx, fields);
  const { name: displayName, ...display } = table.display;
  const { name, aliases, shown } = readOwnNames(ctx, fields, draft.fallbackName);
  const { delegateTo, tools, grants, ...rights } = readRights(ctx, fields);
  const subagents = readSubagents(ctx, { subagents: fields.subagents, agents: fields.agents, delegateTo });
  const byHand: HandRead = {
    name,
    displayName: displayName ?? shown,
    aliases,
    description: readDescription(ctx, fields.description) ?? "",
    prompt: readPrompt(ctx, fields.prompt, draft.prompt),
    model: readModel(ctx, fields.model),
    ...(tools && { tools }),
    ...rights,
    ...(grants && { grants }),
    ...(subagents && { subagents }),
  };
  refuseRemote(ctx, fields.kind);
  const isBroken = ctx.problems.some((problem) => problem.severity === "error");
  if (isBroken) return { name, aliases };
  return { agent: { ...byHand, ...table, display, source: draft.source, extra }, name, aliases };
}

/** Every field that needs no more than its entry in the table. */
function readTable(ctx: ReadContext, written: WrittenFields): TableRead {
  const read = Object.entries(FIELD_TABLE).flatMap(([name, field]) => {
    const value = READ_BY_HAND.has(name) ? undefined : readAgentField(ctx, name, written, field);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(read);
}

function readOwnNames(
  ctx: ReadContext,
  fields: WrittenFields,
  fallback: string,
): Pick<Agent, "name" | "aliases"> & { shown: string } {
  const written = readLabel(ctx, "name", fields.name) ?? readLabel(ctx, "id", fields.id);
  const id = readLabel(ctx, "id", fields.id) ?? written;
  const shown = readLabel(ctx, "displayName", fields.displayName) ?? written ?? fallback;
  const name = (id === undefined ? undefined : makeSlug(id)) ?? makeSlug(fallback);
  if (name === undefined) {
    const message = `no name can be made from ${JSON.stringify(written ?? fallback)}: it has no ASCII letter or digit`;
    report(ctx, "error", {
      path: "name",
      code: "bad-name",
      message,
      fix: "set id to a short name such as code-reviewer",
    });
  }
  const aliases = readFieldPart(ctx, "aliases", fields.aliases, AGENT_FIELDS.aliases);
  const slugs = Array.isArray(aliases) ? aliases.flatMap((alias) => makeSlug(String(alias)) ?? []) : [];
  return { name: name ?? "", shown, aliases: [...new Set(slugs)].filter((alias) => alias !== name) };
}

function readDescription(ctx: ReadContext, value: unknown): string | undefined {
  const description = readLabel(ctx, "description", value);
  if (description !== undefined) return description;
  report(ctx, "error", {
    path: "description",
    code: "missing-description",
    message: "there is no description, so nobody knows when to delegate to this agent",
    fix: "add a line such as `description: Reviews a change and reports defects.`",
  });
  return undefined;
}

/** The body is the prompt; opencode's `prompt` key only stands in for an empty one. */
function readPrompt(ctx: ReadContext, value: unknown, body: string): string {
  if (body.trim() !== "") return body;
  const prompt = readLabel(ctx, "prompt", value);
  if (prompt !== undefined && !/\{(?:file|env):/.test(prompt)) return prompt;
  const message = "there is no text below the frontmatter, so the agent has no instructions of its own";
  report(ctx, "warning", {
    path: "prompt",
    code: "empty-prompt",
    message,
    fix: "write its instructions below the second ---",
  });
  return "";
}

function readModel(ctx: ReadContext, value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value;
  if (first === undefined || first === null) return "inherit";
  if (typeof first === "string" && /^[A-Za-z0-9][\w.:@+/[\]-]*$/.test(first.trim())) return first.trim();
  const accepted = "inherit, an alias such as fast, or provider/model-id";
  badValue(ctx, "model", { value: first, accepted, instead: "the parent's model is used" });
  return "inherit";
}

/** Gemini's remote agents live on another server; there is nothing here to run. */
function refuseRemote(ctx: ReadContext, kind: unknown): void {
  if (kind === undefined || kind === null || kind === "local") return;
  const message = `kind is ${JSON.stringify(kind)}: only local agents can be run`;
  report(ctx, "error", {
    path: "kind",
    code: "remote-agent",
    message,
    fix: "remove the file or set kind: local",
  });
}

const { kind: POLICY } = AGENT_FIELDS.subagents;

/** What says whom an agent may delegate to: the `subagents` map, Copilot's `agents`, and names in the tools list. */
type SubagentsInput = { subagents: unknown; agents: unknown; delegateTo: readonly string[] };

/** The policy, or undefined for an agent that works alone. Anything unreadable allows nobody. */
function readSubagents(ctx: ReadContext, input: SubagentsInput): SubagentPolicy | undefined {
  const { subagents } = input;
  const shorthand =
    typeof subagents === "string" || Array.isArray(subagents) ? { allow: subagents } : subagents;
  const map = readMap(ctx, "subagents", shorthand, POLICY);
  if (map === "bad") {
    badValue(ctx, "subagents", {
      value: subagents,
      accepted: `a map such as ${POLICY.example}`,
      instead: "it works alone",
    });
    return undefined;
  }
  const listed = map?.allow === undefined ? "agents" : "subagents.allow";
  const written = readReferences(ctx, listed, map?.allow ?? input.agents);
  const allow = readAllow(ctx, written, input.delegateTo);
  const deny = readReferences(ctx, "subagents.deny", map?.deny);
  if (allow === "bad" || deny === "bad") return undefined;
  if (map === undefined && allow === undefined) return undefined;
  const parts = (["execution", "maxConcurrent", "recursive"] as const).map((part) => [
    part,
    readFieldPart(ctx, `subagents.${part}`, map?.[part], POLICY.parts[part]),
  ]);
  return { allow: allow ?? [], deny: deny ?? [], ...Object.fromEntries(parts) };
}

/** A bare `Agent` in the tools list opens everybody, but only where no list says otherwise. */
function readAllow(
  ctx: ReadContext,
  written: string[] | "bad" | undefined,
  delegateTo: readonly string[],
): string[] | "bad" | undefined {
  if (written === "bad") return "bad";
  const named = delegateTo.filter((name) => name !== "*").flatMap((name) => agentReference(name) ?? []);
  const bare = delegateTo.includes("*");
  if (bare && written === undefined && named.length === 0) {
    report(ctx, "info", {
      path: "tools",
      code: "delegates-to-all",
      message:
        "the tools list has delegation without naming agents, so every enabled agent may be delegated to",
      fix: "name the agents in subagents.allow",
    });
    return ["*"];
  }
  if (written === undefined && named.length === 0) return undefined;
  return [...new Set([...(written ?? []), ...named])];
}

function readReferences(ctx: ReadContext, path: string, value: unknown): string[] | "bad" | undefined {
  const names = readNames(value);
  const references = names === "bad" ? undefined : names?.map(agentReference);
  if (names !== "bad" && references?.every((name) => name !== undefined) !== false) return references;
  badValue(ctx, path, { value, accepted: "a list of agent names", instead: "it works alone" });
  return "bad";
}

import { type Agent, type AgentSource, CONTEXT_MODES } from "../../schema/agent.ts";
import { AT_LEAST_ONE, TEMPERATURE } from "../../schema/number-range.ts";
import { readDelegation, readSubagents } from "./read-delegation.ts";
import { readDeliverables } from "./read-deliverables.ts";
import { readLimits, readRetry, type VendorLimit } from "./read-limits.ts";
import { readRights } from "./read-rights.ts";
import {
  badValue,
  type ReadContext,
  readBoolean,
  readLabel,
  readLimit,
  readMap,
  readNames,
  readNumber,
  readOneOf,
  report,
} from "./read-values.ts";
import { slugOf } from "./slug.ts";
import { type Fields, sortKeys, withOwnServers } from "./sort-keys.ts";

/** What a definition is made of: its keys as written, its prompt, and the name it has if it gives none. */
export type AgentDraft = {
  values: ReadonlyMap<string, unknown>;
  prompt: string;
  fallbackName: string;
  source: AgentSource;
};

/** The names that a definition claims, and the agent unless an error was reported. */
export type AgentReading = Pick<Agent, "name" | "aliases"> & { agent?: Agent };

/** Checks a definition. All problems are collected, none stops the reading. */
export function readAgent(base: ReadContext, draft: AgentDraft): AgentReading {
  const { fields, extra } = sortKeys(base, draft.values);
  const ctx = withOwnServers(base, extra);
  const names = readIdentity(ctx, fields, draft.fallbackName);
  const description = readDescription(ctx, fields.description);
  const rights = readRights(ctx, fields);
  const subagents = readSubagents(ctx, {
    subagents: fields.subagents,
    agents: fields.agents,
    delegateTo: rights.delegateTo,
  });
  const temperature = readNumber(ctx, "temperature", fields.temperature, TEMPERATURE);
  const maxOutputTokens = readLimit(ctx, "maxOutputTokens", fields.maxOutputTokens, AT_LEAST_ONE);
  const delegation = readDelegation(ctx, fields.delegation);
  const agent: Agent = {
    ...names,
    description: description ?? "",
    prompt: readPrompt(ctx, fields.prompt, draft.prompt),
    model: readModel(ctx, fields.model),
    ...(rights.tools === undefined ? {} : { tools: rights.tools }),
    askTools: rights.askTools,
    disallowedTools: rights.disallowedTools,
    ...(rights.grants === undefined ? {} : { grants: rights.grants }),
    ...(subagents === undefined ? {} : { subagents }),
    context: readContext(ctx, fields.context),
    limits: readLimits(ctx, fields.limits, vendorLimits(fields)),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(delegation === undefined ? {} : { delegation }),
    retry: readRetry(ctx, fields.retry),
    deliverables: readDeliverables(ctx, fields.deliverables),
    ...(readVerify(ctx, fields.verify) && { verify: "reviewer" as const }),
    workspace: readWorkspace(ctx, fields),
    flow: readOneOf(ctx, "flow", {
      value: fields.flow,
      words: ["loop", "intent"],
      absent: "loop",
      bad: "loop",
    }),
    display: readDisplay(ctx, fields),
    enabled: readEnabled(ctx, fields),
    source: draft.source,
    extra,
  };
  refuseRemote(ctx, fields.kind);
  const { name, aliases } = names;
  const isBroken = ctx.problems.some((problem) => problem.severity === "error");
  return isBroken ? { name, aliases } : { agent, name, aliases };
}

function readIdentity(
  ctx: ReadContext,
  fields: Fields,
  fallback: string,
): Pick<Agent, "name" | "displayName" | "aliases"> {
  const written = readLabel(ctx, "name", fields.name) ?? readLabel(ctx, "id", fields.id);
  const id = readLabel(ctx, "id", fields.id) ?? written;
  const shown = readLabel(ctx, "displayName", fields.displayName) ?? written ?? fallback;
  const name = (id === undefined ? undefined : slugOf(id)) ?? slugOf(fallback);
  if (name === undefined) {
    const message = `no name can be made from ${JSON.stringify(written ?? fallback)}: it has no ASCII letter or digit`;
    report(ctx, "error", {
      path: "name",
      code: "bad-name",
      message,
      fix: "set id to a short name such as code-reviewer",
    });
  }
  const aliases = readNames(fields.aliases);
  if (aliases === "bad") {
    badValue(ctx, "aliases", {
      value: fields.aliases,
      accepted: "a list of names",
      instead: "there are none",
    });
  }
  const slugs =
    aliases === "bad" || aliases === undefined ? [] : aliases.flatMap((alias) => slugOf(alias) ?? []);
  return { name: name ?? "", displayName: displayNameOf(fields) ?? shown, aliases: unique(slugs, name) };
}

function displayNameOf(fields: Fields): string | undefined {
  const { display } = fields;
  const name =
    typeof display === "object" && display !== null && "name" in display ? display.name : undefined;
  return typeof name === "string" && name.trim() !== "" ? name.trim() : undefined;
}

function unique(names: readonly string[], own: string | undefined): string[] {
  return [...new Set(names)].filter((name) => name !== own);
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

function readContext(ctx: ReadContext, value: unknown): Agent["context"] {
  const written = value === "full_history" ? "full" : value;
  return readOneOf(ctx, "context", {
    value: written,
    words: CONTEXT_MODES,
    absent: "task_only",
    bad: "task_only",
  });
}

function vendorLimits(fields: Fields): VendorLimit[] {
  const turns = (["maxTurns", "maxSteps", "steps"] as const).map((path) => ({
    limit: "turns" as const,
    path,
    value: fields[path],
  }));
  return [...turns, { limit: "minutes", path: "timeoutMins", value: fields.timeoutMins }];
}

/** Whether a reviewer judges success criteria. */
function readVerify(ctx: ReadContext, value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (value === "reviewer") return true;
  badValue(ctx, "verify", { value, accepted: "reviewer", instead: "success criteria are not verified" });
  return false;
}

function readWorkspace(ctx: ReadContext, fields: Fields): Agent["workspace"] {
  const written = fields.workspace ?? (fields.isolation === "worktree" ? "isolated" : undefined);
  return readOneOf(ctx, "workspace", {
    value: written,
    words: ["shared", "isolated"],
    absent: "shared",
    bad: "isolated",
  });
}

function readDisplay(ctx: ReadContext, fields: Fields): Agent["display"] {
  const map = readMap(ctx, "display", fields.display, ["name", "icon", "color", "colour"]);
  if (map === "bad") {
    badValue(ctx, "display", {
      value: fields.display,
      accepted: "a map such as {icon: 🧪}",
      instead: "it is ignored",
    });
  }
  const own = map === "bad" || map === undefined ? {} : map;
  const icon = readLabel(ctx, "display.icon", own.icon) ?? readLabel(ctx, "icon", fields.icon);
  const color =
    readLabel(ctx, "display.color", own.color ?? own.colour) ?? readLabel(ctx, "color", fields.color);
  return { ...(icon === undefined ? {} : { icon }), ...(color === undefined ? {} : { color }) };
}

function readEnabled(ctx: ReadContext, fields: Fields): boolean {
  const on = readBoolean(ctx, "enabled", fields.enabled, { absent: true, bad: false });
  const off = (["disable", "disabled"] as const).some((key) =>
    readBoolean(ctx, key, fields[key], { absent: false, bad: true }),
  );
  return on && !off;
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

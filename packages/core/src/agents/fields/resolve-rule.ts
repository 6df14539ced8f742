import type { AgentFormat } from "../../schema/agent.ts";
import { hasHiddenCharacter } from "../../schema/hidden-character.ts";
import { compileWildcard, matchesWildcard } from "../../text/wildcard.ts";
import { closest } from "../closest.ts";
import { type ReadContext, report, showValue, splitCommas } from "./read-values.ts";
import { agentReference } from "./slug.ts";
import { CORE_TOOLS, type KnownTools, ourNames, vendorNames } from "./tool-names.ts";

/** What one entry of a tools list means. */
export type Resolved =
  | { kind: "rules"; rules: string[] }
  | { kind: "delegate"; agents: string[] }
  | { kind: "everything" }
  | { kind: "elsewhere" }
  | { kind: "unknown"; hint: string };

const NAME = /^[A-Za-z*][A-Za-z0-9_.*/-]*$/;
const MAX_RULE_LENGTH = 900;
const PATH_TOOLS = new Set(["read", "write", "edit", "grep", "glob", "ls"]);

/**
 * One entry of a tools list in our own names. A name is compared as written: padding, other case, look-alike
 * letters or invisible characters make it unknown, never a real tool.
 */
export function resolveRule(text: string, format: AgentFormat, known: KnownTools): Resolved {
  if (text === "*" || (text === "all" && !known.tools?.has("all"))) return { kind: "everything" };
  const parts = splitRule(text);
  if ("hint" in parts) return { kind: "unknown", hint: parts.hint };
  const { name, pattern } = parts;
  const names = toolNames(name, format, known);
  if (names === undefined) return { kind: "unknown", hint: suggest(name, known) };
  if (names.length === 0) return { kind: "elsewhere" };
  if (names[0] === "delegate")
    return { kind: "delegate", agents: pattern === undefined ? ["*"] : splitCommas(pattern) };
  const rules = names.map((each) =>
    pattern === undefined ? each : `${each}(${ourPattern(each, pattern, format)})`,
  );
  return { kind: "rules", rules };
}

/**
 * The tools that a limit for `name` binds, in our own names: none for a vendor's tool we lack. For an unknown name, a hint
 * with what there is. Where nobody knows the tools yet, a name stays as it is for who does.
 */
export function resolveToolName(
  name: string,
  format: AgentFormat,
  known: KnownTools,
  there = known.tools,
): { names: readonly string[] } | { hint: string } {
  const isGroup = known.groups?.has(name) && !known.tools?.has(name);
  const isOne = NAME.test(name) && !name.includes("*") && !isGroup;
  const names = known.tools === undefined ? [name] : toolNames(name, format, known);
  if (isOne && names !== undefined) return { names };
  const guess = closest(name, candidatesFor(known));
  const nearest =
    isOne && guess !== undefined ? `did you mean '${guess}'?` : "a limit is for one tool, by its name;";
  return { hint: `${nearest} ${listTools(there)}` };
}

function splitRule(text: string): { name: string; pattern?: string } | { hint: string } {
  if (text.length > MAX_RULE_LENGTH) return { hint: `a rule has at most ${MAX_RULE_LENGTH} characters` };
  const open = text.indexOf("(");
  const name = open === -1 ? text : text.slice(0, open);
  if (!NAME.test(name)) {
    const blank = /\s/.test(name) ? "separate names with commas and write them without blanks" : "";
    return { hint: blank || "a tool's name has only ASCII letters, digits and _ - . / *" };
  }
  if (open === -1) return { name };
  const pattern = text.slice(open + 1, -1);
  if (!text.endsWith(")") || !isBalanced(pattern)) return { hint: "close the parenthesis" };
  if (pattern.trim() === "") return { hint: "put a pattern between the parentheses or leave them out" };
  if (hasHiddenCharacter(pattern))
    return {
      hint: "remove the invisible characters from the pattern, and blanks that are no ordinary space",
    };
  return { name, pattern };
}

/** Whether every bracket in a text is closed. */
export function isBalanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

/** Our names for `name`, none for a vendor's tool we lack, undefined if nobody has it. */
function toolNames(name: string, format: AgentFormat, known: KnownTools): readonly string[] | undefined {
  const vendor = ourNames(name, format);
  const ownFirst = format !== "opencode" && format !== "copilot";
  if (known.tools?.has(name) && (ownFirst || vendor === undefined || vendor.length === 0)) return [name];
  if (vendor !== undefined) return vendor;
  if (CORE_TOOLS.has(name) || known.groups?.has(name)) return [name];
  const server = serverRule(name, format, known);
  if (server !== undefined) return [server];
  if (known.tools === undefined) return [name];
  if (name.includes("*") && matchesSome(name, [...known.tools, ...CORE_TOOLS])) return [name];
  return undefined;
}

/** `mcp__server__tool` for every way an MCP tool is written, where it is recognisably one. */
function serverRule(name: string, format: AgentFormat, known: KnownTools): string | undefined {
  if (name.startsWith("mcp__")) {
    const rest = name.slice("mcp__".length);
    const whole = !rest.includes("__") && !rest.includes("*");
    return whole ? `${name}__*` : name;
  }
  const slash = name.indexOf("/");
  if (slash > 0 && slash < name.length - 1) {
    const server = name.slice(0, slash);
    if (format === "copilot" || known.servers?.has(server)) return `mcp__${server}__${name.slice(slash + 1)}`;
    return undefined;
  }
  const bare = format === "gemini" && name.startsWith("mcp_") ? name.slice("mcp_".length) : name;
  for (const server of [...(known.servers ?? [])].sort((a, b) => b.length - a.length)) {
    for (const prefix of [`${server}_`, `mcp_${server}_`]) {
      if (name.startsWith(prefix) && name.length > prefix.length)
        return `mcp__${server}__${name.slice(prefix.length)}`;
    }
  }
  if (bare !== name) return geminiRule(bare);
  const wholeServer = /^([A-Za-z][\w.-]*?)_?\*$/.exec(name);
  if (format !== "opencode" || wholeServer === null) return undefined;
  const ours = matchesSome(name, [...(known.tools ?? []), ...CORE_TOOLS]);
  return ours ? undefined : `mcp__${wholeServer[1]}${name.endsWith("_*") ? "__*" : "*"}`;
}

/** Gemini's server names have no underscore, so the first one ends the server. */
function geminiRule(bare: string): string | undefined {
  if (bare === "*") return "mcp__*";
  const [server = "", ...tool] = bare.split("_");
  return server === "" || tool.length === 0 ? undefined : `mcp__${server}__${tool.join("_")}`;
}

function matchesSome(glob: string, names: readonly string[]): boolean {
  const wildcard = compileWildcard(glob);
  return names.some((name) => matchesWildcard(wildcard, name));
}

/**
 * A vendor's pattern as our matcher reads it. Only what would otherwise match nothing is rewritten, since a deny that
 * matches nothing is a hole: leading `./`, `domain:`, Claude's gitignore style, opencode's `*` across folders.
 */
function ourPattern(tool: string, pattern: string, format: AgentFormat): string {
  if (tool === "web_fetch") return pattern.replace(/^domain:/, "");
  if (!PATH_TOOLS.has(tool)) return pattern;
  const path = pattern.replace(/^(?:\.\/)+/, "");
  if (format === "claude") return claudePath(path);
  if (format !== "opencode") return path;
  if (path === "*") return "**";
  return path.replace(/^\*(?!\*)/, "**/*").replace(/\/\*$/, "/**");
}

function claudePath(path: string): string {
  if (path.startsWith("//")) return path.slice(1);
  if (path.startsWith("/")) return `project:${path.slice(1)}`;
  if (/^(?:~\/|project:|workspace:|\*\*)/.test(path)) return path;
  const folder = path.endsWith("/") ? `${path}**` : path;
  return path.replace(/\/$/, "").includes("/") ? folder : `**/${folder}`;
}

function suggest(name: string, known: KnownTools): string {
  const guess = closest(name, candidatesFor(known));
  return guess === undefined ? listTools(known.tools) : `did you mean '${guess}'?`;
}

function candidatesFor(known: KnownTools): string[] {
  return [...(known.tools ?? []), ...(known.groups ?? []), ...CORE_TOOLS, ...vendorNames()];
}

function listTools(tools: ReadonlySet<string> = CORE_TOOLS): string {
  const own = [...tools].sort();
  const shown = own.slice(0, 20).join(", ");
  return own.length > 20 ? `known are ${shown}, … (${own.length} in all)` : `known are ${shown}`;
}

/** An agent's rights while they are being read; `delegateTo` collects whom its tools list lets it call. */
export type Rights = {
  tools: string[] | undefined;
  askTools: string[];
  disallowedTools: string[];
  grants: string[] | undefined;
  delegateTo: string[];
};

/** The rules of one denied or guarded name; an unknown one is an error, since its tool would stay open. */
export function restrictedRules(ctx: ReadContext, path: string, name: string): string[] {
  const resolved = resolveRule(name, ctx.format, ctx.known);
  if (resolved.kind === "rules") return resolved.rules.flatMap((rule) => withSiblings(ctx, rule));
  if (resolved.kind === "delegate") return delegateRules(resolved.agents);
  if (resolved.kind === "everything") return ["*"];
  if (resolved.kind === "elsewhere") return [];
  const asking = path.startsWith("askTools");
  report(ctx, "error", {
    path,
    code: asking ? "unknown-ask-tool" : "unknown-denied-tool",
    message: `${path} names the unknown tool ${showValue(name)}, so the tool that was meant would stay open; ${resolved.hint}`,
    fix: "correct the name or remove it",
  });
  return [];
}

/** In Claude Code a path in `Edit(…)` binds every tool that changes files, so a new file cannot be written there either. */
function withSiblings({ format }: ReadContext, rule: string): string[] {
  const path = format === "claude" ? /^(?:edit|write)(\(.*\))$/s.exec(rule)?.[1] : undefined;
  return path === undefined ? [rule] : [`edit${path}`, `write${path}`];
}

/** `delegate` rules, one per agent. */
export function delegateRules(agents: readonly string[]): string[] {
  return agents.map((agent) => (agent === "*" ? "delegate" : `delegate(${agentReference(agent) ?? agent})`));
}

/** Reports a name in a list of allowed tools that gives nothing. */
export function reportUnusable(
  ctx: ReadContext,
  path: string,
  name: string,
  resolved: Extract<Resolved, { kind: "unknown" | "elsewhere" }>,
): void {
  const unknown = resolved.kind === "unknown";
  report(ctx, unknown ? "warning" : "info", {
    path,
    code: unknown ? "unknown-tool" : "tool-elsewhere",
    message: unknown
      ? `${path} names the unknown tool ${showValue(name)}; ${resolved.hint}`
      : `${path} names ${showValue(name)}, a tool of another program that Retinue does not have`,
    fix: unknown ? "correct the name or remove it" : "remove it, or leave it for the other program",
  });
}

import { isRecord } from "../../schema/json-object.ts";
import { readPermission } from "./read-permission.ts";
import { badValue, type ReadContext, readNames, report, showValue } from "./read-values.ts";
import { delegateRules, type Rights, reportUnusable, resolveRule, restrictedRules } from "./resolve-rule.ts";

/** The written values of the fields that hold rights. */
export type RightsInput = Partial<
  Record<
    "tools" | "allowedTools" | "askTools" | "disallowedTools" | "grants" | "permission" | "permissionMode",
    unknown
  >
>;

/** Reads every field that holds rights. A restriction that cannot be understood is an error, never ignored. */
export function readRights(ctx: ReadContext, input: RightsInput): Rights {
  const rights: Rights = {
    tools: undefined,
    askTools: [],
    disallowedTools: [],
    grants: undefined,
    delegateTo: [],
  };
  const listed = input.tools === undefined ? "allowedTools" : "tools";
  const tools = input[listed];
  const switches = isRecord(tools) ? tools : undefined;
  if (switches === undefined) rights.tools = readAllowed(ctx, listed, tools, rights.delegateTo);
  rights.grants = readAllowed(ctx, "grants", input.grants, undefined);
  rights.askTools.push(...readRestricted(ctx, "askTools", input.askTools));
  rights.disallowedTools.push(...readRestricted(ctx, "disallowedTools", input.disallowedTools));
  readPermission(ctx, { switches, permission: input.permission }, rights);
  readPermissionMode(ctx, input.permissionMode, rights);
  return {
    tools: rights.tools && unique(rights.tools),
    askTools: unique(rights.askTools),
    disallowedTools: unique(rights.disallowedTools),
    grants: rights.grants && unique(rights.grants),
    delegateTo: unique(rights.delegateTo),
  };
}

/**
 * A list that gives rights: absent is undefined, and so is `*` for what an agent may use; `*` for what it may pass on is
 * everything that the layers above leave, even what it does not use itself. Anything unreadable is nothing.
 */
function readAllowed(
  ctx: ReadContext,
  field: "tools" | "allowedTools" | "grants",
  value: unknown,
  delegateTo: string[] | undefined,
): string[] | undefined {
  if (value === undefined) return undefined;
  const names = value === null ? "bad" : readNames(value);
  if (names === "bad" || names === undefined) {
    const accepted = "a list of tool names, [] for none, or left out for all the parent grants";
    badValue(ctx, field, { value, accepted, instead: "no tools are given" });
    return [];
  }
  const rules: string[] = [];
  let understood = names.length === 0;
  for (const [index, name] of names.entries()) {
    const resolved = resolveRule(name, ctx.format, ctx.known);
    if (resolved.kind === "everything") return field === "grants" ? ["*"] : undefined;
    if (resolved.kind === "rules") rules.push(...resolved.rules);
    if (resolved.kind === "delegate") {
      if (delegateTo === undefined) rules.push(...delegateRules(resolved.agents));
      else delegateTo.push(...resolved.agents);
    }
    if (resolved.kind === "unknown" || resolved.kind === "elsewhere")
      reportUnusable(ctx, `${field}.${index}`, name, resolved);
    else understood = true;
  }
  if (!understood) reportNothingKnown(ctx, field, names);
  return rules;
}

/** A list that takes rights away or guards them: every entry must be understood. */
function readRestricted(ctx: ReadContext, field: "askTools" | "disallowedTools", value: unknown): string[] {
  const names = readNames(value);
  if (names === undefined) return [];
  if (names === "bad") {
    badValue(ctx, field, {
      value,
      accepted: "a list of tool names",
      instead: "the agent cannot be used",
      severity: "error",
    });
    return [];
  }
  return names.flatMap((name, index) => restrictedRules(ctx, `${field}.${index}`, name));
}

/** Claude's `permissionMode`: `plan` takes file changes and commands away; no mode ever adds a right. */
function readPermissionMode(ctx: ReadContext, value: unknown, rights: Rights): void {
  if (value === undefined || value === null || value === "default") return;
  if (value === "plan") rights.disallowedTools.push("write", "edit", "git_commit", "shell", "test");
  const effect =
    value === "plan" ? "denies changes of files and commands" : "gives no rights in an agent file";
  report(ctx, "info", {
    path: "permissionMode",
    code: "permission-mode",
    message: `permissionMode ${showValue(value)} ${effect}`,
    fix: "say it with tools, askTools and disallowedTools",
  });
}

function reportNothingKnown(ctx: ReadContext, field: string, names: readonly string[]): void {
  report(ctx, "warning", {
    path: field,
    code: "no-known-tools",
    message: `none of the tools in ${field} is known (${names.slice(0, 8).map(showValue).join(", ")}), so this agent has no tools`,
    fix: `correct the names, write ${field}: [] if that is meant, or remove the line to use all the parent grants`,
  });
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

import type { Deliverable, FileDeliverable, Trigger } from "../../schema/agent.ts";
import { findOwn } from "../../schema/find-own.ts";
import { isRecord } from "../../schema/json-object.ts";
import { COUNT } from "../../schema/number-range.ts";
import {
  badValue,
  type ReadContext,
  readLimit,
  readMap,
  readNames,
  report,
  showValue,
  UNUSABLE,
} from "./read-values.ts";
import { reportUnusable, resolveToolName } from "./resolve-rule.ts";

const A_DELIVERABLE = "a file glob, {file: glob}, or {command: text}";
const A_TRIGGER = "a word, or a map such as {word: summary, with: [article], not: [code]}";
const DELIVERABLE_KEYS = { parts: { file: null, schema: null, before: null, command: null } };
const TRIGGER_KEYS = { parts: { word: null, with: null, not: null } };

/** The contract of what a run leaves behind. An entry that cannot be checked makes the agent unusable. */
export function readDeliverables(ctx: ReadContext, path: string, value: unknown): Deliverable[] {
  if (value === undefined || value === null) return [];
  const entries = Array.isArray(value) ? value : [value];
  return entries.flatMap((entry, index) => {
    const at = Array.isArray(value) ? `${path}.${index}` : path;
    return readDeliverable(ctx, at, entry) ?? [];
  });
}

function readDeliverable(ctx: ReadContext, path: string, value: unknown): Deliverable | undefined {
  const map = readMap(ctx, path, typeof value === "string" ? { file: value } : value, DELIVERABLE_KEYS);
  if (map === undefined || map === "bad") return refuseDeliverable(ctx, path, value);
  const { file, command } = map;
  if (isText(command) && file === undefined) return { command: command.trim() };
  if (!isText(file) || command !== undefined || !staysInside(file))
    return refuseDeliverable(ctx, path, file ?? value);
  const before = readNames(map.before);
  if (before === "bad") return refuseDeliverable(ctx, `${path}.before`, map.before);
  if (map.schema !== undefined && !isRecord(map.schema))
    return refuseDeliverable(ctx, `${path}.schema`, map.schema);
  const result: FileDeliverable = { file: file.trim() };
  if (map.schema !== undefined) result.schema = map.schema;
  if (before !== undefined) result.before = before;
  return result;
}

function refuseDeliverable(ctx: ReadContext, path: string, value: unknown): undefined {
  badValue(ctx, path, { value, accepted: A_DELIVERABLE, instead: UNUSABLE, severity: "error" });
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Globs are relative to the workspace or the project and do not climb out of them. */
function staysInside(glob: string): boolean {
  const relative = glob.trim().replace(/^project:/, "");
  return !/^[/~\\]|^[A-Za-z]:/.test(relative) && !relative.split(/[/\\]/).includes("..");
}

/** Words that mark a request, plain or with what must and must not stand beside them. */
export function readTriggers(ctx: ReadContext, path: string, value: unknown): (string | Trigger)[] {
  if (!Array.isArray(value)) {
    const words = readNames(value);
    if (words !== "bad") return trimWords(words);
    badValue(ctx, path, { value, accepted: "a list of words", instead: "it is ignored" });
    return [];
  }
  return value.flatMap((item: unknown, index): (string | Trigger)[] => {
    if (typeof item === "string") return trimWords([item]);
    const found = isRecord(item) ? readTrigger(ctx, `${path}.${index}`, item) : undefined;
    if (found === undefined)
      badValue(ctx, `${path}.${index}`, { value: item, accepted: A_TRIGGER, instead: "it is ignored" });
    return found ?? [];
  });
}

function readTrigger(ctx: ReadContext, path: string, item: Record<string, unknown>): Trigger[] | undefined {
  const map = readMap(ctx, path, item, TRIGGER_KEYS);
  if (map === undefined || map === "bad") return undefined;
  const [words, besides, without] = [map.word, map.with, map.not].map(readNames);
  if (words === undefined || words === "bad" || besides === "bad" || without === "bad") return undefined;
  const found = trimWords(words);
  // A list that says nothing must not turn a narrow trigger into a wide one.
  if (found.length === 0 || (besides && trimWords(besides).length === 0)) return undefined;
  return found.map((word) => ({
    word,
    ...(besides && { with: trimWords(besides) }),
    ...(without && { not: trimWords(without) }),
  }));
}

function trimWords(words: readonly string[] = []): string[] {
  return words.map((word) => word.trim()).filter((word) => word !== "");
}

/** Limits by tool, in our own names; an unknown name is an error, since the limit would not hold. */
export function readPerTool(
  ctx: ReadContext,
  path: string,
  value: unknown,
): Record<string, number> | undefined {
  if (value === undefined) return undefined;
  if (!isRecord(value)) {
    const accepted = "a map such as {web_search: 5}";
    badValue(ctx, path, { value, accepted, instead: UNUSABLE, severity: "error" });
    return undefined;
  }
  const result: Record<string, number> = {};
  for (const [written, each] of Object.entries(value)) {
    const at = `${path}.${written}`;
    const calls = readLimit(ctx, at, each, COUNT);
    const tool = resolveToolName(written, ctx.format, ctx.known);
    if ("hint" in tool) {
      const message = `${at} names the unknown tool ${showValue(written)}, so its limit would not hold; ${tool.hint}`;
      report(ctx, "error", {
        path: at,
        code: "unknown-limited-tool",
        message,
        fix: "correct the name or remove it",
      });
    } else if (tool.names.length === 0) reportUnusable(ctx, at, written, { kind: "elsewhere" });
    else if (calls !== undefined) addToolLimits(result, tool.names, calls);
  }
  return result;
}

/** Adds the limit of some tools; where one has a limit already, the lower one holds. */
export function addToolLimits(limits: Record<string, number>, tools: readonly string[], calls: number): void {
  for (const tool of tools) limits[tool] = Math.min(calls, findOwn(limits, tool) ?? calls);
}

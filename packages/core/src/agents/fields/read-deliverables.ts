import type { Deliverable, FileDeliverable } from "../../schema/agent.ts";
import { badValue, isMap, type ReadContext, readMap, readNames } from "./read-values.ts";

const KEYS = ["file", "schema", "before", "command"] as const;
const ACCEPTED = "a file glob, {file: glob}, or {command: text}";

/** The contract of what a run leaves behind. An entry that cannot be checked makes the agent unusable. */
export function readDeliverables(ctx: ReadContext, value: unknown): Deliverable[] {
  if (value === undefined || value === null) return [];
  const entries = Array.isArray(value) ? value : [value];
  return entries.flatMap((entry, index) => {
    const path = Array.isArray(value) ? `deliverables.${index}` : "deliverables";
    return readDeliverable(ctx, path, entry) ?? [];
  });
}

function readDeliverable(ctx: ReadContext, path: string, value: unknown): Deliverable | undefined {
  const map = readMap(ctx, path, typeof value === "string" ? { file: value } : value, KEYS);
  if (map === undefined || map === "bad") return unusable(ctx, path, value);
  const { file, command } = map;
  if (isText(command) && file === undefined) return { command: command.trim() };
  if (!isText(file) || command !== undefined || !staysInside(file)) return unusable(ctx, path, file ?? value);
  const before = readNames(map.before);
  if (before === "bad") return unusable(ctx, `${path}.before`, map.before);
  if (map.schema !== undefined && !isMap(map.schema)) return unusable(ctx, `${path}.schema`, map.schema);
  const result: FileDeliverable = { file: file.trim() };
  if (map.schema !== undefined) result.schema = map.schema;
  if (before !== undefined) result.before = before;
  return result;
}

function unusable(ctx: ReadContext, path: string, value: unknown): undefined {
  badValue(ctx, path, { value, accepted: ACCEPTED, instead: "the agent cannot be used", severity: "error" });
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

import { isRecord } from "./json-object.ts";
/**
 * What a call is given, in words that a person can read: the command as it is, every other value behind its name, and texts of
 * several lines as lines. Nothing is left out and nothing is escaped; the printer makes invisible characters visible.
 */
export function showInput(input: unknown): string {
  if (!isRecord(input)) return showValue(input, "").trimStart();
  const { command, ...rest } = input;
  if (typeof command !== "string") return showFields(input, "");
  const others = showFields(rest, "");
  return others === "" ? command : `${command}\n\n${others}`;
}

const INDENT = "  ";

function showFields(fields: Readonly<Record<string, unknown>>, indent: string): string {
  return Object.entries(fields)
    .map(([name, value]) => `${indent}${name}:${showValue(value, indent)}`)
    .join("\n");
}

/** The value behind a name: on the same line, or below it, one step further in. */
function showValue(value: unknown, indent: string): string {
  const inner = `${indent}${INDENT}`;
  if (typeof value === "string") {
    if (!value.includes("\n")) return ` ${value}`;
    return `\n${value.replaceAll(/^/gm, inner)}`;
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return " none";
    return `\n${value.map((item) => `${inner}-${showItem(item, inner)}`).join("\n")}`;
  }
  if (isRecord(value)) return Object.keys(value).length === 0 ? " none" : `\n${showFields(value, inner)}`;
  return ` ${value === null || value === undefined ? "none" : String(value)}`;
}

/** The first field of an item stands beside its dash. */
function showItem(item: unknown, indent: string): string {
  if (!isRecord(item)) return showValue(item, indent);
  return ` ${showFields(item, `${indent}${INDENT}`).trimStart()}`;
}

import { isRecord } from "../../schema/json-object.ts";
import { classifyKey, findKey, normalKey, suggestKey } from "./field-names.ts";
import { type ReadContext, report } from "./read-values.ts";

const MAX_DEPTH = 32;

/** Written values by the key of ours or of another program that they are under. */
export type WrittenFields = Readonly<Record<string, unknown>>;

/** Known keys by their field, the rest kept as written and reported. */
export function sortKeys(
  ctx: ReadContext,
  values: ReadonlyMap<string, unknown>,
): { fields: WrittenFields; extra: Record<string, unknown> } {
  const fields: Record<string, unknown> = {};
  const extra: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const known = findKey(key);
    if (known !== undefined) {
      fields[known.key] ??= value;
      continue;
    }
    extra[key] = plainValue(value);
    const kind = classifyKey(key);
    if (kind === "noted") reportKept(ctx, key);
    if (kind === "unknown") reportUnknown(ctx, key);
  }
  return { fields, extra };
}

/** Values from code may be anything; what is kept is what a file could say. */
function plainValue(value: unknown, depth = 0): unknown {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  if (typeof value !== "object") return String(value);
  if (depth > MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((each) => plainValue(each, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return Object.prototype.toString.call(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each, depth + 1)]));
}

/** Servers the definition brings along are known to its own tools list. */
export function withOwnServers(ctx: ReadContext, extra: Readonly<Record<string, unknown>>): ReadContext {
  const written = Object.entries(extra).find(([key]) => normalKey(key) === "mcpservers")?.[1];
  const entries = Array.isArray(written) ? written : [written];
  const names = entries.flatMap((entry) =>
    typeof entry === "string" ? [entry] : isRecord(entry) ? Object.keys(entry) : [],
  );
  if (names.length === 0) return ctx;
  return { ...ctx, known: { ...ctx.known, servers: new Set([...(ctx.known.servers ?? []), ...names]) } };
}

function reportKept(ctx: ReadContext, key: string): void {
  const message = `${key} is another program's key: kept, but without effect in Retinue`;
  report(ctx, "info", { path: key, code: "kept-key", message, fix: "nothing to do" });
}

/** A key that sounds like rights but is not read leaves the agent wider than its author thinks. */
function reportUnknown(ctx: ReadContext, key: string): void {
  const guess = suggestKey(key);
  const aboutRights = /tool|permission|deny|disallow|allow|forbid/i.test(key);
  report(ctx, aboutRights ? "warning" : "info", {
    path: key,
    code: "unknown-key",
    message: `${key} is not a known key: kept, but without effect${guess === undefined ? "" : `; did you mean '${guess}'?`}`,
    fix: guess === undefined ? "remove it if it was meant for Retinue" : `rename it to '${guess}'`,
  });
}

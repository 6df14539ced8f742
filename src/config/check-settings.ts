import type { ErrorObject } from "ajv";
import type { Problem } from "../schema/agent.ts";
import type { SettingsFile } from "./read-settings-file.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** Adds `; did you mean 'x'?` when one of the candidates is near. */
export type Suggest = (name: string, candidates: Iterable<string>) => string;

/** Why a text is no rule; undefined if it is one. */
export type RuleFault = (text: string) => string | undefined;

/** What the check borrows from those who know names and rules. */
export type Knowledge = { suggest?: Suggest; ruleFault?: RuleFault };

/**
 * Holds a file against the schema. Unknown keys are warnings; a key with a wrong value is an error and is left out
 * of what comes back, so that the rest can still be shown.
 */
export async function checkSettings(
  { file, value, lines }: SettingsFile,
  { suggest = () => "", ruleFault = () => undefined }: Knowledge,
): Promise<{ value: Record<string, unknown>; problems: Problem[] }> {
  const { Ajv } = await import("ajv");
  const ajv = new Ajv({ allErrors: true, strict: false, verbose: true });
  ajv.addFormat("rule", (text) => ruleFault(text) === undefined);
  const good = { ...value };
  if (ajv.validate(SETTINGS_SCHEMA, value)) return { value: good, problems: [] };
  const problems = (ajv.errors ?? []).map((error): Problem => {
    const at = (path: string) => lines.get(path) ?? lines.get(error.instancePath) ?? 1;
    if (error.keyword === "additionalProperties") return unknownKey(error, file, at, suggest);
    delete good[topKey(error.instancePath)];
    const message = `${shown(error.instancePath)} ${faultOf(error, ruleFault)}`;
    const fix = "correct the value; nothing runs until then";
    return { severity: "error", file, line: at(error.instancePath), code: "bad-setting", message, fix };
  });
  return { value: good, problems: problems.toSorted((a, b) => a.line - b.line) };
}

function unknownKey(
  error: ErrorObject,
  file: string,
  at: (path: string) => number,
  suggest: Suggest,
): Problem {
  const key = String(error.params.additionalProperty);
  const { properties } = error.parentSchema ?? {};
  const known = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const path = `${error.instancePath}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const message = `there is no setting ${shown(path)}${suggest(key, known)}`;
  return {
    severity: "warning",
    file,
    line: at(path),
    code: "unknown-setting",
    message,
    fix: `known are ${known.join(", ")}`,
  };
}

function faultOf(error: ErrorObject, ruleFault: RuleFault): string {
  const values: unknown = error.params.allowedValues;
  if (Array.isArray(values)) return `must be one of ${values.join(", ")}`;
  if (error.keyword !== "format") return error.message ?? "is wrong";
  return `is no rule: ${JSON.stringify(error.data)}: ${ruleFault(String(error.data)) ?? "it cannot be read"}`;
}

function topKey(path: string): string {
  return (path.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
}

function shown(path: string): string {
  const keys = path.split("/").slice(1);
  return keys.length === 0
    ? "the file"
    : `'${keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")).join(".")}'`;
}

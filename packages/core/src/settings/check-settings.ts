import { didYouMean } from "../agents/closest.ts";
import { parseRule } from "../rights/rule.ts";
import type { Problem } from "../schema/agent.ts";
import { sayError } from "../schema/check-json.ts";
import { isRecord } from "../schema/json-object.ts";
import { checkObject, mustBeInRange } from "../schema/number-range.ts";
import type { Settings } from "../schema/settings.ts";
import { SETTING_TABLE, type SettingTable } from "../schema/settings.ts";
import type { SettingsFile } from "./read-settings-file.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** Why a name is no tool's; undefined if it is one's. */
export type ExplainTool = (name: string) => string | undefined;

/** Something wrong at a path such as `/limits/turns`. */
type Fault = { path: string; message: string };

/**
 * Checks a file by the schema. Unknown keys are warnings, but errors among the limits, where one would not hold. A key with
 * a wrong value is an error and is left out of what comes back, so that the rest can still be shown.
 */
export async function checkSettings(
  { file, value, lines }: SettingsFile,
  explainTool: ExplainTool = () => undefined,
): Promise<{ value: Record<string, unknown>; problems: Problem[] }> {
  const good = { ...value };
  const problems: Problem[] = unknownKeys(SETTINGS_SCHEMA, value, "").map(({ path, known }) => {
    const message = `there is no setting ${shown(path)}${didYouMean(listKeys(path).at(-1) ?? "", known)}`;
    const fix = `known are ${known.join(", ")}`;
    const told = { file, line: lines.get(path) ?? 1, message, fix };
    return path.startsWith("/limits/")
      ? { severity: "error", code: "bad-setting", ...told }
      : { severity: "warning", code: "unknown-setting", ...told };
  });
  for (const { path, message } of [
    ...(await wrongValues(value)),
    ...wrongRules(value),
    ...wrongTools(value, explainTool),
    ...wrongZone(value),
  ]) {
    delete good[listKeys(path)[0] ?? ""];
    const fix = "correct the value; nothing runs until then";
    const told = `${shown(path)} ${message}`;
    problems.push({
      severity: "error",
      file,
      line: lines.get(path) ?? 1,
      code: "bad-setting",
      message: told,
      fix,
    });
  }
  return { value: good, problems: problems.toSorted((a, b) => a.line - b.line) };
}

/** Keywords whose error only says that something below is wrong. */
const PARENTS = new Set(["properties", "additionalProperties", "items"]);

async function wrongValues(value: unknown): Promise<Fault[]> {
  const { Validator } = await import("@cfworker/json-schema");
  const { errors } = new Validator(SETTINGS_SCHEMA, "2020-12", false).validate(value);
  return errors
    .filter(({ keyword }) => !PARENTS.has(keyword))
    .map((each) => ({
      path: decodeURIComponent(each.instanceLocation.slice(1)),
      message: inWords(each),
    }));
}

function inWords(found: Parameters<typeof sayError>[0]): string {
  const types = /^Instance type "(\w+)" is invalid\. Expected "(\w+)"/.exec(found.error);
  return types ? `must be ${types[2]}, not ${types[1]}` : `is wrong: ${sayError(found)}`;
}

function wrongRules({ permissions }: Readonly<Record<string, unknown>>): Fault[] {
  const faults: Fault[] = [];
  for (const [name, list] of Object.entries(isRecord(permissions) ? permissions : {})) {
    for (const [index, text] of Array.isArray(list) ? list.entries() : []) {
      const rule = typeof text === "string" ? parseRule(text) : {};
      if (!("error" in rule)) continue;
      const message = `is no rule: ${JSON.stringify(text)}: ${rule.error}`;
      faults.push({ path: `/permissions/${pointerKey(name)}/${index}`, message });
    }
  }
  return faults;
}

/** Limits for tools that there are not. */
function wrongTools({ limits }: Readonly<Record<string, unknown>>, explainTool: ExplainTool): Fault[] {
  const perTool = isRecord(limits) && isRecord(limits.perTool) ? Object.keys(limits.perTool) : [];
  return perTool.flatMap((name) => {
    const why = explainTool(name);
    const path = `/limits/perTool/${pointerKey(name)}`;
    return why === undefined ? [] : [{ path, message: `is for no tool, so it would not hold; ${why}` }];
  });
}

function wrongZone({ assistant }: Readonly<Record<string, unknown>>): Fault[] {
  const zone = isRecord(assistant) ? assistant.timezone : undefined;
  try {
    if (typeof zone === "string") Intl.DateTimeFormat("en", { timeZone: zone });
    return [];
  } catch {
    return [{ path: "/assistant/timezone", message: `is no time zone such as Europe/Berlin: '${zone}'` }];
  }
}

function unknownKeys(schema: unknown, value: unknown, path: string): { path: string; known: string[] }[] {
  if (!isRecord(schema) || !isRecord(value)) return [];
  const { properties, additionalProperties: others } = schema;
  const known = isRecord(properties) ? properties : {};
  return Object.entries(value).flatMap(([key, each]) => {
    const inner = `${path}/${pointerKey(key)}`;
    if (Object.hasOwn(known, key)) return unknownKeys(known[key], each, inner);
    if (isRecord(others)) return unknownKeys(others, each, inner);
    return isRecord(properties) ? [{ path: inner, known: Object.keys(known) }] : [];
  });
}

/** Throws for settings from code of which a number is missing or out of its range. */
export function checkSettingNumbers(settings: Settings): void {
  checkParts("settings", { ...settings }, SETTING_TABLE);
}

function checkParts(
  where: string,
  values: Readonly<Record<string, unknown>>,
  table: SettingTable,
  required: readonly string[] = [],
): void {
  for (const [key, { range, parts, each, ...setting }] of Object.entries(table)) {
    const name = `${where}.${key}`;
    const value = values[key];
    const isExpected = value !== undefined || setting.default !== undefined || required.includes(key);
    if (range && isExpected) mustBeInRange(name, value, range);
    const inner = parts ?? each;
    if (!inner || !(isExpected || hasDefault(parts ?? {}))) continue;
    checkObject(name, value);
    if (parts) checkParts(name, { ...value }, parts);
    for (const [entry, own] of each ? Object.entries(value) : []) {
      checkObject(`${name}.${entry}`, own);
      checkParts(`${name}.${entry}`, { ...own }, inner, setting.required);
    }
  }
}

function hasDefault(parts: SettingTable): boolean {
  return Object.values(parts).some((part) => part.default !== undefined);
}

function pointerKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function listKeys(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function shown(path: string): string {
  return path === "" ? "the file" : `'${listKeys(path).join(".")}'`;
}

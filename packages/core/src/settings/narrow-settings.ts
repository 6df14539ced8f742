import type { Limits, Problem } from "../schema/agent.ts";
import { isRecord } from "../schema/json-object.ts";
import type { Settings } from "../schema/settings.ts";
import { SETTING_TABLE, type Setting } from "../schema/settings.ts";

type Parts = Readonly<Record<string, Setting>>;
type Values = Readonly<Record<string, unknown>>;

const SECRET = /key|token|secret|password|authorization|credential/i;

/** Whether a project's file may say something of a setting, or of a part of it. */
function isNarrowable({ project, parts = {} }: Setting): boolean {
  return project !== undefined || Object.values(parts).some(isNarrowable);
}

/** Finds what a project's file may not say. Names are told, values never. */
export function refuseWidening(
  value: Values,
  file: string,
  findLine: (path: string) => number,
): { value: Record<string, unknown>; problems: Problem[] } {
  const problems: Problem[] = [];
  for (const [key, each] of Object.entries(value))
    for (const path of secretsIn(each, `/${key}`)) problems.push(secretInProject(path, file, findLine(path)));
  const keep = (values: Values, parts: Parts, path: string): Record<string, unknown> => {
    const kept = Object.entries(values).flatMap(([key, each]) => {
      const at = `${path}/${key}`;
      const setting = Object.hasOwn(parts, key) ? parts[key] : undefined;
      if (setting?.parts && isNarrowable(setting) && isRecord(each))
        return [[key, keep(each, setting.parts, at)] as const];
      if (setting && isNarrowable(setting) && !setting.project?.isWider?.(each))
        return [[key, each] as const];
      // One at the top that there is not is told by the check already.
      if (setting || path !== "")
        problems.push(ignored(at.slice(1).replaceAll("/", "."), file, findLine(at)));
      return [];
    });
    return Object.fromEntries(kept);
  };
  return { value: keep(value, SETTING_TABLE, ""), problems };
}

/** Settings cut down by a project's: rules add up, agents stay off, of two limits the lower one holds. */
export function narrowSettings(settings: Partial<Settings>, by: Values): Partial<Settings> {
  const { permissions, disabledAgents = [], limits = {} } = settings;
  const whole = { ...settings, permissions: { ask: [], deny: [], ...permissions }, disabledAgents, limits };
  return narrowParts(whole, by, SETTING_TABLE);
}

function narrowParts(user: Values, project: Values, parts: Parts): Record<string, unknown> {
  const narrowed: Record<string, unknown> = { ...user };
  for (const [key, setting] of Object.entries(parts)) {
    const { project: narrowing, parts: inner } = setting;
    const [own, theirs] = [user[key], project[key]];
    if (theirs === undefined || !isNarrowable(setting)) continue;
    if (inner && isRecord(theirs)) {
      // A section with defaults is only cut down where its defaults are known.
      const isWhole =
        Object.values(inner).some((part) => part.default !== undefined) && key !== "permissions";
      if (isRecord(own) || !isWhole) narrowed[key] = narrowParts(Object(own), theirs, inner);
    } else if (narrowing) {
      const value = narrowing.isWider?.(theirs) ? own : narrowing.join(own, theirs);
      if (value !== undefined) narrowed[key] = value;
    }
  }
  return narrowed;
}

/** Of two sets of limits the lower value each. */
export function lowerLimits<Kind extends Limits>(a: Kind, b: Limits): Kind {
  const { limits } = narrowSettings({ limits: a }, { limits: b });
  return { ...a, ...limits };
}

function ignored(key: string, file: string, line: number): Problem {
  return {
    severity: "warning",
    file,
    line,
    code: "ignored-in-project",
    message: `'${key}' is ignored: a project's settings may only take rights and room away, or anyone who commits to it could widen yours`,
    fix: "move it to your own settings file, or remove it",
  };
}

function secretInProject(path: string, file: string, line: number): Problem {
  const key = path.slice(1).replaceAll("/", ".");
  return {
    severity: "warning",
    file,
    line,
    code: "secret-in-project",
    message: `'${key}' looks like a secret, and everyone with the project can read it; it is not used`,
    fix: "remove it, replace it where it was issued, and name an environment variable with apiKeyEnv in your own settings",
  };
}

/** Paths of texts under names that secrets have; an `…Env` only names a variable. */
function secretsIn(value: unknown, path: string, depth = 0): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (typeof value === "string")
    return SECRET.test(name) && !/env$/i.test(name) && value !== "" ? [path] : [];
  if (!isRecord(value) || depth > 8) return [];
  return Object.entries(value).flatMap(([key, each]) => secretsIn(each, `${path}/${key}`, depth + 1));
}

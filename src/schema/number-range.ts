import type { Agent, Limits } from "./agent.ts";
import { RetinueError } from "./error.ts";
import type { Settings } from "./settings.ts";

/** What a number must be: finite, at least `min` (or above it), at most `max`, and whole where it counts something. */
export type NumberRange = { min: number; whole?: boolean; max?: number; above?: boolean };

/** The largest number that any limit takes: beyond it sums are not exact, and a product may be infinite. */
export const LARGEST = Number.MAX_SAFE_INTEGER;

/** A number of things of which none is possible. */
export const COUNT: NumberRange = { min: 0, whole: true };
/** A number of things of which one must be possible. */
export const AT_LEAST_ONE: NumberRange = { min: 1, whole: true };
/** An amount above nothing. */
export const POSITIVE: NumberRange = { min: 0, above: true };
const AMOUNT: NumberRange = { min: 0 };

/** Every limit and what it accepts. */
export const LIMIT_RANGES: Readonly<Record<Exclude<keyof Limits, "perTool">, NumberRange>> = {
  turns: AT_LEAST_ONE,
  toolCalls: COUNT,
  contextChars: AT_LEAST_ONE,
  minutes: POSITIVE,
  tokens: AT_LEAST_ONE,
  costUsd: AMOUNT,
  spawns: COUNT,
  depth: COUNT,
};

/** Whether a value is a number of the range. */
export function isInRange(value: unknown, range: NumberRange): value is number {
  const { min, max = LARGEST, whole = false, above = false } = range;
  if (typeof value !== "number" || !Number.isFinite(value) || value > max) return false;
  return (above ? value > min : value >= min) && (!whole || Number.isInteger(value));
}

/** What a range accepts, in words. */
export function describeRange({ min, max, whole = false, above = false }: NumberRange): string {
  const kind = whole ? "a whole number" : "a number";
  const upper = max === undefined ? "" : ` and at most ${max}`;
  return above ? `${kind} above ${min}${upper}` : `${kind} of at least ${min}${upper}`;
}

/** Throws for a number that is not in its range, by its name; absent is fine. */
export function checkNumber(name: string, value: unknown, range: NumberRange): void {
  if (value === undefined || isInRange(value, range)) return;
  const accepted = describeRange(range);
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  const why = typeof value === "number" && value > LARGEST ? " that is not beyond all measure" : "";
  throw new RetinueError(
    "input",
    `${name} is ${shown}, but must be ${accepted}${why}`,
    `set ${name} to ${accepted}`,
  );
}

/** Throws for limits of which one is no limit; `where` names whose they are. */
export function checkLimits(where: string, limits: Limits | undefined): void {
  for (const [name, value] of Object.entries(limits ?? {})) {
    if (name === "perTool") checkPerTool(where, value);
    else if (Object.hasOwn(LIMIT_RANGES, name))
      checkNumber(`${where}.${name}`, value, LIMIT_RANGES[name as keyof typeof LIMIT_RANGES]);
    else {
      const known = [...Object.keys(LIMIT_RANGES), "perTool"].join(", ");
      throw new RetinueError("input", `${where}.${name} is no limit; there are ${known}`, "correct the name");
    }
  }
}

function checkPerTool(where: string, perTool: unknown): void {
  if (perTool === undefined) return;
  if (typeof perTool !== "object" || perTool === null || Array.isArray(perTool))
    throw new RetinueError("input", `${where}.perTool must be an object of numbers by the tool's name`);
  for (const [tool, calls] of Object.entries(perTool)) checkNumber(`${where}.perTool.${tool}`, calls, COUNT);
}

/** Throws for an agent of which a number is out of its range. Those from files were checked when they were read. */
export function checkAgentNumbers({ name, limits, subagents, retry }: Agent): void {
  checkLimits(`limits of the agent '${name}'`, limits);
  checkNumber(`subagents.maxConcurrent of the agent '${name}'`, subagents?.maxConcurrent, AT_LEAST_ONE);
  checkNumber(`retry.attempts of the agent '${name}'`, retry.attempts, { ...COUNT, max: 10 });
  checkNumber(`retry.backoffMs of the agent '${name}'`, retry.backoffMs, AMOUNT);
}

/** Throws for settings from code of which a number is out of its range. */
export function checkSettingNumbers(settings: Settings): void {
  const { shell, web, watchdog } = settings;
  checkLimits("settings.limits", settings.limits);
  checkNumber("settings.maxConcurrent", settings.maxConcurrent, AT_LEAST_ONE);
  checkNumber("settings.maxDepth", settings.maxDepth, COUNT);
  checkNumber("settings.maxAgents", settings.maxAgents, AT_LEAST_ONE);
  checkNumber("settings.watchdog.firstTokenMs", watchdog.firstTokenMs, POSITIVE);
  checkNumber("settings.watchdog.idleMs", watchdog.idleMs, POSITIVE);
  checkNumber("settings.shell.seconds", shell.seconds, POSITIVE);
  checkNumber("settings.shell.testSeconds", shell.testSeconds, POSITIVE);
  for (const key of ["memoryMb", "pids", "diskMb"] as const)
    checkNumber(`settings.shell.${key}`, shell[key], AT_LEAST_ONE);
  checkNumber("settings.web.maxPageMb", web.maxPageMb, POSITIVE);
  for (const [name, { maxConcurrent }] of Object.entries(settings.providers))
    checkNumber(`settings.providers.${name}.maxConcurrent`, maxConcurrent, AT_LEAST_ONE);
  for (const [name, price] of Object.entries(settings.prices))
    for (const [part, value] of Object.entries(price))
      checkNumber(`settings.prices.${name}.${part}`, value, AMOUNT);
}
